extension Inbox {
  /// Terminates a subscription, unless that has been done.
  ///
  /// It releases what the user gave: must not be called under a lock or on the hub's actor.
  func terminate(_ node: SubscriptionNode, as termination: Termination, in call: CallKind?) {
    update { state, effects in
      guard let place = state.indexes.index(forKey: node.topic.key) else { return }
      change(at: place, &state) {
        terminate(node, as: termination, in: call, at: place, &$0, &effects)
      }
    }
  }

  /// Cancels an object's subscription to a protocol, or all of its subscriptions.
  ///
  /// That of a dead object that had the same address has expired.
  ///
  /// - Parameters:
  ///   - object: the object, which may be dying.
  ///   - key: the protocol; `nil` for all, one after another.
  func terminate(_ object: AnyObject, of key: ObjectIdentifier? = nil) {
    for key in keys(key) {
      update { state, effects in
        guard let place = state.indexes.index(forKey: key),
          let node = state.indexes.values[place].subscription(at: ObjectIdentifier(object))
        else { return }
        // No weak reference refers to an object that is dying, and none to another has its address.
        let isSame =
          node.reference.refers(to: object)
          || !WeakReference(object, object: object).refers(to: object)
        change(at: place, &state) {
          terminate(node, as: isSame ? .cancelled : .expired, at: place, &$0, &effects)
        }
      }
    }
  }

  /// Cancels all subscriptions with an id, one protocol after another.
  func terminate(identifiedBy identity: Identity) {
    for key in keys() {
      let bucket = state.withLock { $0.indexes[key]?.named(identity.hash) ?? [] }
      // Comparing identities is user code: outside the lock.
      for named in bucket where named.identity.isMeant(by: identity) {
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

  /// How many subscriptions are ended in one section.
  private static var endedAtOnce: Int { 16 }

  /// Cancels all subscriptions of a protocol, or of all protocols, one after another.
  func terminateAll(of key: ObjectIdentifier? = nil) {
    let groups = keys(key).map { key in
      // In order of subscription: that of the index differs from run to run.
      (key: key, nodes: members(of: key)?.values.sorted { $0.serial < $1.serial } ?? [])
    }
    var pieces = groups.flatMap { key, nodes in
      stride(from: 0, to: nodes.count, by: Self.endedAtOnce)
        .map { (key: key, nodes: nodes[$0...].prefix(Self.endedAtOnce)) }
    }[...]
    updateInSections { state, effects in
      guard let piece = pieces.popFirst() else { return true }
      guard let place = state.indexes.index(forKey: piece.key) else { return false }
      change(at: place, &state) { state in
        for node in piece.nodes { terminate(node, as: .cancelled, at: place, &state, &effects) }
      }
      return false
    }
    for (key, nodes) in groups where nodes.count >= TopicIndex.smallestSweep { review(key) }
  }

  /// Has the actor look once more at the subscriptions of a protocol that are finishing.
  ///
  /// The wake for many terminations is sent before they are finished, so it finds accounts that are not
  /// final. Without another one they would stay in memory until the next call.
  private func review(_ key: ObjectIdentifier) {
    update { state, _ in
      guard let place = state.indexes.index(forKey: key) else { return }
      change(at: place, &state) { _ in }
      askForWake()
    }
  }

  /// The given key, or those of all protocols that have ever had a subscription.
  private func keys(_ key: ObjectIdentifier? = nil) -> [ObjectIdentifier] {
    key.map { [$0] } ?? state.withLock { $0.topics }.map(\.key)
  }

  /// Begins the termination of a subscription; the effects finish it.
  ///
  /// Called under the lock, within ``change(at:_:_:)``. Does nothing if it is not open.
  func terminate(
    _ node: SubscriptionNode, as termination: Termination, in call: CallKind? = nil,
    at place: Place, _ state: inout State, _ effects: inout [Effect]
  ) {
    let entry = state.indexes.values[place].terminate(node, isSucceeded: termination == .succeeded)
    guard let entry else { return }
    effects.append(.finish(node, at: entry.end, as: termination, in: call))
    if let options = entry.options { effects.append(.release(options)) }
  }
}
