extension SubscriptionNode {
  /// Ends the mailbox where it stands and gives what waits to a successor, which expects it.
  ///
  /// Must not be called under a lock.
  func handOver(to successor: SubscriptionNode) {
    let inheritance = contents.withLock { contents in
      let inheritance = contents.mailbox.handOver()
      if inheritance == nil {
        topic.succession.withLock { $0.pass(inheritanceOf: self, to: successor) }
      }
      return inheritance
    }
    if let inheritance { successor.inherit(inheritance) }
  }

  /// Takes over what waited for the predecessor.
  private func inherit(_ inheritance: Mailbox.Inheritance) {
    let reception = contents.withLock { contents in
      defer { markSettled(contents.mailbox) }
      return contents.mailbox.inherit(inheritance, published: publishedWhileOpen)
    }
    switch reception {
    case .kept(let isDue):
      // By the limit that holds here.
      touch { _, _ in }
      if isDue { topic.owner.summonWorker(for: self) }
    case .refused(let remains):
      remains.discard(withReceiptsUpTo: topic.lastReceipt.load(ordering: .acquiring))
    case .passedOn(let inheritance):
      topic.succession.withLock { $0.takeRecipient(of: self) }?.inherit(inheritance)
    }
  }

  /// Releases the subscription that was held for this one, which a worker has left.
  func releaseHeir() {
    guard let heir = topic.succession.withLock({ $0.forget(self) }) else { return }
    let isDue = heir.contents.withLock { $0.mailbox.release(published: heir.publishedWhileOpen) }
    if isDue { topic.owner.summonWorker(for: heir) }
  }

  /// The subscription that is held for this one.
  var heir: SubscriptionNode? {
    isOpen ? nil : topic.succession.withLock { $0.heir(of: self) }
  }
}
