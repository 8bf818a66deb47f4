/// The extensions that there are, and those that are in use.
///
/// It is what keeps them alive: an engine holds them weakly.
actor ExtensionShelf {
  typealias Maker = @Sendable () throws -> any ServerExtension

  private let engine: any Engine
  private let makers: [(name: String, make: Maker)]
  private var loaded: [String: any ServerExtension] = [:]

  init(engine: any Engine, makers: [(name: String, make: Maker)]) {
    self.engine = engine
    self.makers = makers
  }

  /// All of them, and whether they are in use.
  var list: [(name: String, isLoaded: Bool)] {
    makers.map { ($0.name, loaded[$0.name] != nil) }
  }

  func load(_ name: String) async throws {
    guard let make = makers.first(where: { $0.name == name })?.make else {
      throw Refusal("there is no extension \(name)")
    }
    guard loaded[name] == nil else { throw Refusal("\(name) is loaded") }
    let newcomer = try make()
    loaded[name] = newcomer
    await engine.add(newcomer)
  }

  func unload(_ name: String) async throws {
    guard let leaver = loaded.removeValue(forKey: name) else {
      throw Refusal("\(name) is not loaded")
    }
    await engine.remove(leaver)
  }
}
