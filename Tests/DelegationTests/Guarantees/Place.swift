/// Where users' code runs that a hub calls, or that runs because a hub lets go of something.
enum Place: CaseIterable {
  case synchronousHandler, asynchronousHandler, voter
  case combinerBegins, combinerReceives, combinerMisses, combinerFinishes
  case onIncident, onCancel
  case idIsHashed, idIsCompared, idIsDescribed
  case subscriberDies, subscriberDiesAfterHandler, subscriberDiesAfterVote
  case heldIsCancelled, heldIsReplaced
  case captureIsHandled, captureIsDiscarded, captureIsUnheard, captureHasAsked
  case combinerDies, responseDies, lateResponseDies, errorDies
}
