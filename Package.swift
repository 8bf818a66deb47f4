// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6)
]

let package = Package(
  name: "swift-delegate-hub",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Delegation", targets: ["Delegation"]),
    .library(name: "DelegationDistributed", targets: ["DelegationDistributed"]),
    .library(name: "DelegationTesting", targets: ["DelegationTesting"]),
  ],
  targets: [
    .target(name: "Delegation", swiftSettings: settings),
    .target(
      name: "DelegationDistributed", dependencies: ["Delegation"], swiftSettings: settings),
    .target(name: "DelegationTesting", dependencies: ["Delegation"], swiftSettings: settings),
    .executableTarget(name: "chatroom", dependencies: ["Delegation"], swiftSettings: settings),
    .testTarget(
      name: "DelegationTests", dependencies: ["Delegation", "DelegationTesting"],
      swiftSettings: settings),
    // Imports nothing but `DelegationTesting` and `Testing`, as its users do.
    .testTarget(
      name: "DelegationTestingTests", dependencies: ["DelegationTesting"], swiftSettings: settings),
    // A network of processes for tests: an actor system over TCP, and the program that they start.
    .target(name: "LoopbackCluster", path: "Tests/LoopbackCluster", swiftSettings: settings),
    .executableTarget(
      name: "DistributedPeer", dependencies: ["LoopbackCluster"], path: "Tests/DistributedPeer",
      swiftSettings: settings),
    .testTarget(
      name: "DelegationDistributedTests",
      dependencies: ["Delegation", "DelegationDistributed", "DistributedPeer", "LoopbackCluster"],
      swiftSettings: settings),
    // The documentation's samples of a cluster, with types of their own.
    .testTarget(
      name: "DistributedSampleTests", dependencies: ["Delegation", "DelegationDistributed"],
      swiftSettings: settings),
  ]
)

// For the release lane of the tests across processes: the other tests take minutes to optimize, and
// would make it a build with `-enable-testing`.
if Context.environment["DELEGATION_DISTRIBUTED_TESTS_ONLY"] != nil {
  package.targets.removeAll {
    ["DelegationTests", "DelegationTestingTests", "DistributedSampleTests"].contains($0.name)
  }
}
