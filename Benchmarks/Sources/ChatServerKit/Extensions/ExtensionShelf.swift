import Logging

/// The extensions that there are, and those that are in use.
///
/// It is what keeps them alive: an engine holds them weakly. What it does is logged with who wanted it.
actor ExtensionShelf {
  typealias Maker = @Sendable () throws -> any ServerExtension

  private let engine: any Engine
  private let makers: [(name: String, make: Maker)]
  private let logger: Logger
  private var loaded: [String: any ServerExtension] = [:]

  init(engine: any Engine, makers: [(name: String, make: Maker)], logger: Logger) {
    self.engine = engine
    self.makers = makers
    self.logger = logger
  }

  /// All of them, and what has become of each.
  var list: [(name: String, state: String)] {
    let givenUp = engine.givenUp
    return makers.map { name, _ in
      (name, loaded[name] == nil ? "" : givenUp.contains(name) ? ", given up" : ", loaded")
    }
  }

  func load(_ name: String, by who: Logger.Metadata) async throws {
    guard loaded[name] == nil else { throw Refusal("\(name) is loaded") }
    let newcomer = try make(name)
    loaded[name] = newcomer
    log("an extension was loaded", name, who)
    await engine.add(newcomer)
  }

  /// Takes an extension away.
  ///
  /// What it guards stays closed until it is loaded again.
  func unload(_ name: String, by who: Logger.Metadata) async throws {
    guard let leaver = loaded.removeValue(forKey: name) else {
      throw Refusal("\(name) is not loaded")
    }
    log("an extension was unloaded", name, who)
    await engine.remove(leaver)
  }

  /// Puts a new one in an extension's place, without a time in which neither is there.
  func reload(_ name: String, by who: Logger.Metadata) async throws {
    guard let former = loaded[name] else { throw Refusal("\(name) is not loaded") }
    let newcomer = try make(name)
    loaded[name] = newcomer
    log("an extension was loaded anew", name, who)
    await engine.add(newcomer)
    await engine.remove(former)
  }

  private func make(_ name: String) throws -> any ServerExtension {
    guard let make = makers.first(where: { $0.name == name })?.make else {
      throw Refusal("there is no extension \(name)")
    }
    return try make()
  }

  private func log(_ message: Logger.Message, _ name: String, _ who: Logger.Metadata) {
    logger.notice(message, metadata: who.merging(["extension": "\(name)"]) { $1 })
  }
}
