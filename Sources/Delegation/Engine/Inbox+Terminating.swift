extension Inbox {
  /// Ends a subscription, if nobody has yet.
  ///
  /// Releases what the user gave for it: must not be called under a lock or on the hub's actor.
  func terminate(_ node: SubscriptionNode, as termination: Termination, in call: CallKind?) {
    update { state, effects in
      guard let place = state.indexes.index(forKey: node.topic.key) else { return }
      change(at: place, &state) {
        terminate(node, as: termination, in: call, at: place, &$0, &effects)
      }
    }
  }

  /// Ends an object's subscription to a protocol, or all of them, as cancelled.
  ///
  /// - Parameters:
  ///   - address: the object's address.
  ///   - key: the protocol; `nil` for all, one after another.
  func terminate(at address: ObjectIdentifier, of key: ObjectIdentifier? = nil) {
    for key in keys(key) {
      update { state, effects in
        guard let place = state.indexes.index(forKey: key),
          let node = state.indexes.values[place].subscription(at: address)
        else { return }
        change(at: place, &state) { terminate(node, as: .cancelled, at: place, &$0, &effects) }
      }
    }
  }

  /// Ends all subscriptions with an id as cancelled, one protocol after another.
  func terminate(identifiedBy identity: Identity) {
    for key in keys() {
      let bucket = state.withLock { $0.indexes[key]?.named(identity.hash) ?? [] }
      // Comparing identities is the user's code: outside the lock.
      for named in bucket where named.identity.matches(identity) {
        update { state, effects in
          // It may have been given another id meanwhile.
          guard let place = state.indexes.index(forKey: key),
            state.indexes.values[place].identity(of: named.node) === named.identity
          else { return }
          change(at: place, &state) {
            terminate(named.node, as: .cancelled, at: place, &$0, &effects)
          }
        }
      }
    }
  }

  /// Ends all subscriptions of a protocol, or of all protocols, as cancelled, one after another.
  func terminateAll(of key: ObjectIdentifier? = nil) {
    var keys = keys(key)[...]
    var bucket = GradualTable<ObjectIdentifier, SubscriptionNode>.Place()
    updateInSections { state, effects in
      guard let key = keys.first else { return true }
      guard let place = state.indexes.index(forKey: key),
        let nodes = state.indexes.values[place].members.values(at: &bucket)
      else {
        (keys, bucket) = (keys.dropFirst(), .init())
        return false
      }
      change(at: place, &state) { state in
        for node in nodes { terminate(node, as: .cancelled, at: place, &state, &effects) }
      }
      return false
    }
  }

  /// The keys of all protocols that anybody has ever subscribed to, or just the one.
  private func keys(_ key: ObjectIdentifier? = nil) -> [ObjectIdentifier] {
    key.map { [$0] } ?? state.withLock { $0.topics }.map(\.key)
  }

  /// Ends an open subscription.
  ///
  /// Called under the lock, within ``change(at:_:_:)``.
  ///
  /// - Returns: whether it was open.
  @discardableResult
  func terminate(
    _ node: SubscriptionNode, as termination: Termination, in call: CallKind? = nil,
    at place: Place, _ state: inout State, _ effects: inout Effects
  ) -> Bool {
    guard let departure = state.indexes.values[place].terminate(node) else { return false }
    effects.terminated.append(
      Terminated(node: node, end: departure.end, termination: termination, call: call))
    if let identity = departure.identity { effects.released.append(identity) }
    return true
  }
}
