import Delegation

/// What went wrong: a line for each subscription, kind of call and kind of error, with how often it was.
///
/// A flood makes one line's count grow and pushes no other line off. Lines are kept by the place in the source: of each
/// place so many, and its further subscriptions have one line together. Places are as many as the program has, so the
/// one that has been quiet for longest gives way only in a program with very many.
struct IncidentBook {
  typealias Instant = ContinuousClock.Instant

  struct Line {
    let number: Int
    /// Whether it is of several subscriptions, of which the incident's is the last.
    let isOfSeveral: Bool
    let first: Instant
    var last: Instant
    var count = 0
    var dropped = 0
    /// The last one.
    var incident: DelegateHub.Incident
    /// How many incidents there had been when it changed.
    var version = 0
  }

  private struct Place: Hashable {
    let kind: DelegateHub.Incident.Kind
    let `protocol`: String
    let site: String
  }

  private struct Key: Hashable {
    let subscription: DelegateHub.Subscription
    let call: DelegateHub.Incident.Call
    let error: ObjectIdentifier?
  }

  private struct Page {
    var lines: [Key: Line] = [:]
    var others: Line?
    var last: Instant
  }

  let places: Int
  let linesEach: Int
  /// How many there have been, with those that hubs have left out.
  private(set) var total = 0
  /// How many hubs have left out, of which nothing else is known.
  private(set) var leftOut = 0
  private var next = 0
  private var pages: [Place: Page] = [:]

  init(places: Int = 64, linesEach: Int = 8) {
    self.places = places
    self.linesEach = linesEach
  }

  /// Adds an incident, whose texts are those of the program: the hub's.
  ///
  /// - Parameters:
  ///   - incident: the incident.
  ///   - texts: its protocol and its place in the source, which take time to make.
  ///   - now: the time.
  /// - Returns: what gave way, to be released by the caller: an error may be the last reference to something.
  mutating func add(
    _ incident: DelegateHub.Incident, _ texts: (protocol: String, site: String), at now: Instant
  ) -> [DelegateHub.Incident] {
    total += 1 + incident.leftOut
    leftOut += incident.leftOut
    let place = Place(kind: incident.kind, protocol: texts.protocol, site: texts.site)
    let key = Key(
      subscription: incident.subscription, call: incident.call,
      error: incident.error.map { ObjectIdentifier(type(of: $0)) })
    var released: [DelegateHub.Incident] = []
    if pages[place] == nil {
      if pages.count == places, let oldest = pages.min(by: { $0.value.last < $1.value.last })?.key {
        let page = pages.removeValue(forKey: oldest)
        released =
          page.map { $0.lines.values.map(\.incident) + [$0.others?.incident].compactMap(\.self) }
          ?? []
      }
      pages[place] = Page(last: now)
    }
    pages[place]?.last = now
    let isKnown = pages[place]?.lines[key] != nil
    let isOther = !isKnown && pages[place]?.lines.count == linesEach
    var line =
      (isOther ? pages[place]?.others : pages[place]?.lines[key])
      ?? Line(number: takeNumber(), isOfSeveral: isOther, first: now, last: now, incident: incident)
    released.append(line.incident)
    line.last = now
    line.count += 1
    line.dropped += incident.dropped
    line.incident = incident
    line.version = total
    if isOther { pages[place]?.others = line } else { pages[place]?.lines[key] = line }
    return released
  }

  private mutating func takeNumber() -> Int {
    defer { next += 1 }
    return next
  }

  /// The lines that have changed since there were so many incidents, the latest last.
  func since(_ total: Int) -> [Line] {
    pages.values.flatMap { Array($0.lines.values) + [$0.others].compactMap(\.self) }
      .filter { $0.version > total }.sorted { $0.version < $1.version }
  }
}
