import ArgumentParser
import ChatLoadKit

/// What a load is to be like, as on the command line.
struct LoadOptions: ParsableArguments {
  @Option(help: "How many clients.")
  var clients = 200

  @Option(help: "How many rooms they are in.")
  var rooms = 4

  @Option(help: "Messages a second, of all together; 0 for as many as go.")
  var rate = 200

  @Option(help: "With a rate of 0: how many of a room's clients keep one message under way each.")
  var senders = 4

  @Option(help: "How many seconds.")
  var seconds = 5

  func validate() throws {
    for (name, value) in [
      ("clients", clients), ("rooms", rooms), ("senders", senders), ("seconds", seconds),
    ] where value < 1 { throw ValidationError("--\(name) has to be 1 or more.") }
    if rate < 0 { throw ValidationError("--rate has to be 0 or more.") }
    if senders > clients / rooms { throw ValidationError("A room has fewer clients than senders.") }
    if clients < rooms { throw ValidationError("There have to be as many clients as rooms.") }
  }

  var plan: LoadPlan {
    var plan = LoadPlan()
    plan.clients = clients
    plan.rooms = rooms
    plan.rate = rate
    plan.senders = senders
    plan.duration = .seconds(seconds)
    return plan
  }
}
