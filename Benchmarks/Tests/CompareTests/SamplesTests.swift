import Testing

@testable import compare

@Suite("Samples: what is made of the rounds")
struct SamplesTests {
  @Test("the median is the middle value, in whatever order they come")
  func odd() {
    #expect(Samples([9, 1, 5]).median == 5)
    #expect(Samples([7]).median == 7)
  }

  @Test("of an even number it lies between the two in the middle")
  func even() {
    #expect(Samples([4, 1, 2, 100]).median == 3)
  }

  @Test("one round that went wrong does not move it")
  func outlier() {
    #expect(Samples([1, 1, 1, 1, 1_000_000]).median == 1)
  }

  @Test("the middle half leaves out a quarter at each end")
  func middleHalf() {
    #expect(Samples((1...9).map(Double.init)).middleHalf == 3...7)
    #expect(Samples([1, 2]).middleHalf == 1.25...1.75)
  }
}
