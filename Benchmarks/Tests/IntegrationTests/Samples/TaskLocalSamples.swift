import Delegation
import ServiceContextModule
import Testing

@Suite("Samples of a server: task-locals")
struct TaskLocalSamples {
  @Test("they are named when the hub is made")
  func propagating() {
    // sample: TaskLocalPropagation
    var configuration = DelegateHub.Configuration()
    configuration.propagating = [.taskLocal(ServiceContext.$current)]
    // end of sample
    #expect(configuration.propagating.count == 1)
  }
}
