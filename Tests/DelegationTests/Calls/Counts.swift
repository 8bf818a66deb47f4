// What counts are compared with, in the words of their descriptions: their values cannot be made outside of the library.

/// The counts of questions.
func asked(
  answered: Int = 0, failed: Int = 0, late: Int = 0, abandoned: Int = 0, answering: Int = 0
) -> String {
  let all = answered + failed + late + abandoned + answering
  return "asked \(all), answered \(answered), failed \(failed), late \(late), "
    + "abandoned \(abandoned), answering \(answering)"
}

/// The counts of notifications.
func told(
  handled: Int = 0, failed: Int = 0, expired: Int = 0, dropped: Int = 0, cancelled: Int = 0,
  passedOver: Int = 0, waiting: Int = 0, handling: Int = 0
) -> String {
  "handled \(handled), failed \(failed), expired \(expired), dropped \(dropped), "
    + "cancelled \(cancelled), " + (passedOver > 0 ? "passed over \(passedOver), " : "")
    + "waiting \(waiting), handling \(handling)"
}
