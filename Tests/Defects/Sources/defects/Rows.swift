extension Row {
  /// In the order of the page.
  static let all: [Row] = [
    h1, h2, h3, h4, h5,
    m1, m2, m3, m4, m5, m6, m7, m8, m9,
    l1, l2, l3, l4, l5, l6, l7, l8, l9, l10, l11, l12, l13, l14, l15, l18,
    s10,
  ]
}
