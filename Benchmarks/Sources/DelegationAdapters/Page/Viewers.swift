import NIOCore
import Synchronization

/// The connections of a page, and the viewers among them.
///
/// Each viewer has a connection to itself. Nothing is sampled while there is no viewer.
final class Viewers: Sendable {
  /// Takes frames for one viewer; works from any thread.
  struct Viewer: Sendable {
    let offer: @Sendable (Frame) -> Void
  }

  private struct State {
    /// Where those who connect come from.
    var server: (any Channel)?
    var channels: [ObjectIdentifier: any Channel] = [:]
    /// The keys of those of `channels` that are no viewers, the oldest first.
    var others: [ObjectIdentifier] = []
    /// Invariant: their keys are among those of `channels`.
    var viewers: [ObjectIdentifier: Viewer] = [:]
    /// Their keys, the oldest first.
    var order: [ObjectIdentifier] = []
    /// Whether no connection is taken any more.
    var isClosed = false
  }

  let limit: Int
  /// How many connections there may be that are no viewers: they last for as long as a request takes.
  ///
  /// For a further one the oldest gives way, so that those who say nothing do not keep others out.
  static let otherLimit = 32

  /// An element for each time that the first viewer comes, to the page's end.
  let beginnings: AsyncStream<Void>
  private let begin: AsyncStream<Void>.Continuation
  private let state = Mutex(State())
  /// Whether some viewer needs all texts.
  private let isBehind = Atomic(false)

  init(limit: Int) {
    self.limit = limit
    (beginnings, begin) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  var server: (any Channel)? { state.withLock { $0.server } }

  /// Takes the channel that listens: whatever ends it ends all connections.
  func serve(on server: any Channel) {
    state.withLock { $0.server = server }
    server.closeFuture.whenComplete { _ in self.close() }
  }

  var count: Int { state.withLock { $0.viewers.count } }

  /// Takes a connection, until it is closed.
  ///
  /// - Returns: whether it may stay.
  func admit(_ channel: any Channel) -> Bool {
    let key = ObjectIdentifier(channel)
    let (isAdmitted, oldest) = state.withLock { state -> (Bool, (any Channel)?) in
      if state.isClosed { return (false, nil) }
      state.channels[key] = channel
      state.others.append(key)
      guard state.others.count > Self.otherLimit else { return (true, nil) }
      return (true, state.channels.removeValue(forKey: state.others.removeFirst()))
    }
    oldest?.close(promise: nil)
    if isAdmitted { channel.closeFuture.whenComplete { _ in self.remove(channel) } }
    return isAdmitted
  }

  /// Makes a connection that was admitted a viewer's.
  ///
  /// - Returns: whether it is one now, and who has to go for it: the oldest, if there are too many. Whoever comes wants
  ///   to see something now; a viewer that was forgotten somewhere does not.
  func add(_ viewer: Viewer, on channel: any Channel) -> (isTaken: Bool, formerly: Viewer?) {
    let key = ObjectIdentifier(channel)
    let (isTaken, isFirst, formerly) = state.withLock { state -> (Bool, Bool, Viewer?) in
      guard state.channels[key] != nil, limit > 0 else { return (false, false, nil) }
      var formerly: Viewer?
      if state.viewers.count == limit {
        formerly = state.viewers.removeValue(forKey: state.order.removeFirst())
      }
      state.viewers[key] = viewer
      state.order.append(key)
      state.others.removeAll { $0 == key }
      return (true, state.viewers.count == 1, formerly)
    }
    if isTaken { wantAll() }
    if isFirst { begin.yield() }
    return (isTaken, formerly)
  }

  /// Has all texts in the next frame.
  func wantAll() {
    isBehind.store(true, ordering: .releasing)
  }

  /// Whether all texts have been wanted since the last time.
  func takeWish() -> Bool {
    isBehind.exchange(false, ordering: .acquiringAndReleasing)
  }

  func send(_ frame: Frame) {
    for viewer in state.withLock({ Array($0.viewers.values) }) { viewer.offer(frame) }
  }

  /// Closes all connections, and takes none any more.
  func close() {
    let channels = state.withLock { state in
      state.isClosed = true
      return Array(state.channels.values)
    }
    begin.finish()
    for channel in channels { channel.close(promise: nil) }
  }

  private func remove(_ channel: any Channel) {
    let key = ObjectIdentifier(channel)
    let removed = state.withLock { state in
      state.others.removeAll { $0 == key }
      state.order.removeAll { $0 == key }
      return (state.channels.removeValue(forKey: key), state.viewers.removeValue(forKey: key))
    }
    withExtendedLifetime(removed) {}
  }
}
