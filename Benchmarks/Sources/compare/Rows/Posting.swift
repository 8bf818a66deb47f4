/// Makes a contestant of something that posts without waiting.
///
/// Posted by one task or by several posters at once, awaited by the last handler's own signal: everybody is
/// treated alike, and whoever delivers before it returns has no wait at the end.
///
/// - Parameters:
///   - name: what the table calls it.
///   - crowd: who is told.
///   - units: how many units a burst is; `nil` if its unit is a delivery.
///   - posters: who shares a burst.
///   - post: posts one notification.
/// - Returns: the contestant.
func posting<Member>(
  _ name: String, to crowd: Crowd<Member>, units: Int? = nil, _ posters: Posters = .one,
  _ post: @escaping @Sendable () -> Void
) -> Contestant {
  let share = posters.share(of: crowd.burst)
  return Contestant(
    name, units: units ?? crowd.deliveries, keeping: [crowd],
    work: { iterations in
      for _ in 0..<iterations {
        crowd.start()
        if case .tasks(1) = posters {
          for _ in 0..<share { post() }
        } else {
          await posters.atOnce {
            for _ in 0..<share { post() }
          }
        }
        await crowd.wait()
      }
    })
}

/// Makes a contestant of something whose posting has to be awaited, although it does not wait for
/// handlers.
///
/// - Parameters:
///   - name: what the table calls it.
///   - crowd: who is told.
///   - units: how many units a burst is; `nil` if its unit is a delivery.
///   - posters: how many tasks share a burst.
///   - post: posts one notification.
/// - Returns: the contestant.
func awaiting<Member>(
  _ name: String, to crowd: Crowd<Member>, units: Int? = nil, _ posters: Int = 1,
  _ post: @escaping @Sendable () async -> Void
) -> Contestant {
  let share = Posters.tasks(posters).share(of: crowd.burst)
  return Contestant(
    name, units: units ?? crowd.deliveries, keeping: [crowd],
    work: { iterations in
      for _ in 0..<iterations {
        crowd.start()
        await together(posters) { _ in
          for _ in 0..<share { await post() }
        }
        await crowd.wait()
      }
    })
}
