/// Types that stand for protocols, where more are needed than there are.
enum Types {
  private enum Pair<One, Other> {}

  /// That many types, of which none is made of very many others.
  static func many(_ count: Int) -> [Any.Type] {
    var stems: [Any.Type] = [Nobody.self]
    while stems.count * stems.count < count {
      func open<T>(_ type: T.Type) -> Any.Type { T?.self }
      stems.append(_openExistential(stems[stems.count - 1], do: open))
    }
    func pair<One>(_ one: One.Type) -> [Any.Type] {
      func pair<Other>(_ other: Other.Type) -> Any.Type { Pair<One, Other>.self }
      return stems.map { _openExistential($0, do: pair) }
    }
    return Array(stems.flatMap { _openExistential($0, do: pair) }.prefix(count))
  }
}
