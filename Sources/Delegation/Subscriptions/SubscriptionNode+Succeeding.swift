extension SubscriptionNode {
  /// Ends the mailbox where it stands and gives what waits to a successor, which expects it.
  ///
  /// Must not be called under a lock.
  func handOver(to successor: SubscriptionNode) {
    let handedOver = contents.withLock { contents in
      let handedOver = contents.mailbox.handOver()
      if handedOver == nil {
        topic.succession.withLock { $0.forward(handOverTo: self, to: successor) }
      }
      return handedOver
    }
    if let handedOver { successor.takeOver(handedOver) }
  }

  /// Takes over what waited for the predecessor.
  private func takeOver(_ handedOver: Mailbox.HandOver) {
    let reception = contents.withLock { contents in
      defer { markAccountedFor(contents.mailbox) }
      return contents.mailbox.takeOver(handedOver, published: publishedWhileOpen)
    }
    switch reception {
    case .kept(let needsWorker):
      // By the limit that holds here.
      touch { _, _ in }
      if needsWorker { topic.owner.requestWorker(for: self) }
    case .discarded(let pending):
      pending.discard()
    case .forwarded(let handedOver):
      topic.succession.withLock { $0.takeRecipient(of: self) }?.takeOver(handedOver)
    }
  }

  /// Releases the subscription that was held for this one, which a worker has left.
  func releaseHeld() {
    guard let held = topic.succession.withLock({ $0.forget(self) }) else { return }
    let needsWorker = held.contents.withLock { $0.mailbox.open(published: held.publishedWhileOpen) }
    if needsWorker { topic.owner.requestWorker(for: held) }
  }

  /// The subscription that is held for this one.
  var heldSubscription: SubscriptionNode? {
    isOpen ? nil : topic.succession.withLock { $0.held(for: self) }
  }
}
