internal import Synchronization

/// How a subscription's mailbox is looked into and changed.
extension SubscriptionNode {
  /// How many notifications have been posted; `nil` if the subscription is not open.
  ///
  /// To be read under the lock of the contents: a worker that set ``Mailbox/Flags/recheck`` had seen the
  /// notifications that it set it for, and a count that was read before the lock could miss them. The
  /// count is loaded before the state, so that it includes nothing that was posted after the termination
  /// and so was not addressed to the subscription.
  var publishedWhileOpen: Int? {
    let published = topic.published.load(ordering: .acquiring)
    return isOpen ? published : nil
  }

  /// How many notifications are moved into a mailbox with a limit in one lock section.
  private static var storedAtOnce: Int { 1024 }

  /// Changes the contents, after they have what is the predecessor's and a mailbox with a limit has stored what
  /// was posted.
  ///
  /// It reports and releases what was dropped, outside the lock.
  func touch<Result: Sendable>(_ body: (inout Contents, Int?) -> Result) -> Result {
    while true {
      let (result, overflow, dropped) = contents.withLock {
        contents -> (Result?, [Notification.Content], Int) in
        if contents.predecessor != nil { inherit(&contents) }
        let published = publishedWhileOpen
        let isStored =
          published.map { contents.mailbox.store(upTo: $0, atMost: Self.storedAtOnce) } ?? true
        return (
          isStored ? body(&contents, published) : nil, contents.mailbox.takeOverflow(),
          contents.mailbox.takeUnreportedDrops()
        )
      }
      if dropped > 0 {
        report(.dropped, in: .notify, dropped: dropped, context: overflow.last?.handler.context)
      }
      for content in overflow { content.receipt?.pass() }
      if let result { return result }
    }
  }

  /// Whether a notification was addressed to this subscription, which has not passed it.
  ///
  /// A subscription that is held for this one counts, too: its notifications wait for this one's handler.
  func hasPending(_ number: Int) -> Bool {
    if contents.withLock({ $0.mailbox.hasPending(number) }) { return true }
    return heldSubscription?.hasPending(number) ?? false
  }

  /// Whether the notification of a receipt was addressed to this subscription, which has not passed it.
  func hasPending(_ receipt: Receipt) -> Bool {
    guard let place = receipt.place, place.topic == topic.number else { return false }
    return hasPending(place.number)
  }

  /// What became of the notifications addressed to this subscription so far.
  var account: Account {
    // Loaded under the lock, so that no more is accounted for than was posted, and the same number up to which
    // a mailbox with a limit has stored.
    touch { contents, published in
      contents.mailbox.account(
        published: published ?? topic.published.load(ordering: .acquiring))
    }
  }
}
