extension SubscriptionNode {
  /// Terminates the mailbox, and hands its pending notifications over to a successor, which awaits them.
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
    guard let handedOver else { return }
    // A loop: each may have been succeeded meanwhile.
    var recipient: SubscriptionNode? = successor
    while let next = recipient { recipient = next.takeOver(handedOver) }
  }

  /// Takes over the predecessor's pending notifications.
  ///
  /// - Returns: who is to have them instead; `nil` if nobody.
  private func takeOver(_ handedOver: Mailbox.HandOver) -> SubscriptionNode? {
    let reception = contents.withLock { contents in
      defer { markAccountedFor(contents.mailbox) }
      return contents.mailbox.takeOver(handedOver, published: publishedWhileOpen)
    }
    switch reception {
    case .kept(let needsWorker):
      // Applies this mailbox's limit.
      touch { _, _ in }
      if needsWorker { topic.owner.requestWorker(for: self) }
    case .discarded(let pending):
      pending.discard(withReceiptsUpTo: topic.lastReceipt.load(ordering: .acquiring))
    case .forwarded:
      return topic.succession.withLock { $0.takeRecipient(of: self) }
    }
    return nil
  }

  /// Opens the subscription that was held for this one, which no worker attends any more.
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
