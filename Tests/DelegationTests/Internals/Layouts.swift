import Synchronization

/// How many objects of a test are alive, told by something that each of them owns.
final class Census: Sendable {
  /// What an object owns to be counted.
  final class Life: Sendable {
    private let census: Census

    fileprivate init(in census: Census) {
      self.census = census
      census.count.add(1, ordering: .sequentiallyConsistent)
    }

    deinit {
      census.count.subtract(1, ordering: .sequentiallyConsistent)
    }
  }

  private let count = Atomic<Int>(0)

  var alive: Int { count.load(ordering: .sequentiallyConsistent) }

  func makeLife() -> Life { Life(in: self) }
}

/// Protocols and classes of every layout that a subscriber can have.
enum Layouts {
  protocol Bound: AnyObject, Sendable {
    func bound() -> String
  }

  protocol AlsoBound: AnyObject, Sendable {
    func alsoBound() -> String
  }

  protocol Free: Sendable {
    func free() -> String
  }

  protocol One: Sendable {
    func one() -> String
  }

  protocol Two: Sendable {
    func two() -> String
  }

  protocol Three: Sendable {
    func three() -> String
  }

  protocol Source<Element>: Sendable {
    associatedtype Element
    func next() -> Element
  }

  protocol BoundSource<Element>: AnyObject, Sendable {
    associatedtype Element
    func next() -> Element
  }

  /// A protocol that only subclasses of a class conform to.
  protocol OfBase: Base {
    func ofBase() -> String
  }

  /// A class with subclasses.
  class Base: @unchecked Sendable {
    let life: Census.Life

    required init(_ census: Census) {
      life = census.makeLife()
    }

    func whoAmI() -> String { "base" }
  }

  /// Conforms to everything.
  final class Derived: Base, Bound, AlsoBound, Free, One, Two, Three, Source, BoundSource, OfBase,
    @unchecked Sendable
  {
    override func whoAmI() -> String { "derived" }
    func bound() -> String { "derived, bound" }
    func alsoBound() -> String { "derived, also bound" }
    func free() -> String { "derived, free" }
    func one() -> String { "1" }
    func two() -> String { "2" }
    func three() -> String { "3" }
    func next() -> Int { 42 }
    func ofBase() -> String { "derived, of base" }
  }

  /// Another class that conforms to some of it, to see that the right one is called.
  final class Plain: Bound, Free, Source, BoundSource {
    let life: Census.Life

    init(_ census: Census) {
      life = census.makeLife()
    }

    func bound() -> String { "plain, bound" }
    func free() -> String { "plain, free" }
    func next() -> Int { 7 }
  }

  final class Generic<Value: Sendable>: Bound, Free, Source {
    let value: Value
    let life: Census.Life

    init(_ value: Value, _ census: Census) {
      self.value = value
      life = census.makeLife()
    }

    func bound() -> String { "\(Value.self), bound" }
    func free() -> String { "\(Value.self), free" }
    func next() -> Value { value }
  }

  actor Person: Bound, Free {
    let life: Census.Life

    init(_ census: Census) {
      life = census.makeLife()
    }

    nonisolated func bound() -> String { "person, bound" }
    nonisolated func free() -> String { "person, free" }
  }

  /// A class that is an error: `any Error` keeps it in a box.
  final class Trouble: Error, Free {
    let life: Census.Life

    init(_ census: Census) {
      life = census.makeLife()
    }

    func free() -> String { "trouble, free" }
  }
}
