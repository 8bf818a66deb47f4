extension SubscriptionNode {
  /// Takes over what is pending for the predecessor, if there is one, whose worker may first give back the
  /// notification that it has taken.
  ///
  /// Called under the lock of the contents, by all who look for what is pending. It takes the predecessor's lock
  /// within, so that what is pending is always in one mailbox. There is no circle: of two locks, that of the newer
  /// subscription is taken first. No more have to be taken over at once than threads are in `subscribe`.
  ///
  /// - Parameters:
  ///   - contents: the contents.
  ///   - isEnding: whether this subscription has ended: what is not given back yet counts as cancelled then.
  ///   - heir: who is to be told when the predecessor's worker has left.
  func inherit(
    _ contents: inout Contents, evenIfPoised isEnding: Bool = false,
    for heir: SubscriptionNode? = nil
  ) {
    guard let predecessor = contents.predecessor else { return }
    let heir = heir ?? self
    contents.predecessor = predecessor.contents.withLock { former in
      predecessor.inherit(&former, evenIfPoised: isEnding, for: heir)
      if !isEnding, former.mailbox.flags.contains(.poised) {
        topic.succession.withLock { $0.setHeir(heir, of: predecessor) }
        return predecessor
      }
      if let further = former.predecessor.take() {
        // It still waits: from now on only this one does, so that a row of them does not grow.
        former.mailbox.stepAside()
        return further
      }
      contents.mailbox.takeOver(from: &former.mailbox)
      return nil
    }
  }

  /// Keeps the subscriber of this subscription, whose id was taken, if a worker has a notification that it is about
  /// to call it with: it would be lost with the subscriber.
  func keep(_ subscriber: AnyObject) {
    // What waits for the main actor is given back.
    let isBeginning = contents.withLock { $0.mailbox.hasEnded && $0.mailbox.isHandling }
    if isBeginning { topic.succession.withLock { $0.keep(subscriber, of: self) } }
  }

  /// Requests a worker, unless nothing is pending or the mailbox is shut.
  func resume() {
    // Applies this mailbox's limit to what was taken over.
    if touch({ $0.mailbox.needsWorker($1) }) { topic.owner.requestWorker(for: self) }
  }

  /// Opens the subscriptions that wait for this one's worker, if that has left.
  func releaseHeld() {
    guard let left = topic.succession.withLock({ $0.release(self) }) else { return }
    left.held?.contents.withLock { _ = $0.mailbox.flags.remove(.held) }
    left.held?.resume()
    left.heir?.resume()
  }

  /// The other subscriptions of the same object that have ended and whose handlers may run.
  var endedOnes: [SubscriptionNode] {
    guard let object = reference.object else { return [] }
    return topic.succession.withLock { $0.ended(at: address) }
      .filter { $0 !== self && $0.reference.refers(to: object) }
  }

  /// The subscription that is held for this one.
  var heldSubscription: SubscriptionNode? {
    isOpen ? nil : topic.succession.withLock { $0.held(for: self) }
  }
}
