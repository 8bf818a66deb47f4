/// A subscriber that lives as long as another object, its owner; see ``WeakReference/living``.
///
/// It is a class, and not a protocol, because each look at a subscriber casts to it.
///
/// `@unchecked Sendable`: the reference is written in `init`, and after that only by the runtime. Subclasses add
/// constants only.
class BoundSubscriber: @unchecked Sendable {
  private(set) weak var owner: AnyObject?

  init(to owner: AnyObject) {
    self.owner = owner
  }
}
