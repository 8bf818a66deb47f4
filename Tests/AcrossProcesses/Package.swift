// swift-tools-version: 6.2
import PackageDescription

// Distributed actors across processes. A package of its own: `swift run` in the root package has the demo
// to run and no other program, and these tests are run in release without the others, since what is not
// kept there cannot be called from elsewhere.

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .treatAllWarnings(as: .error),
]

func library(_ name: String) -> Target.Dependency {
  .product(name: name, package: "swift-delegate-hub")
}

let package = Package(
  name: "across-processes",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-delegate-hub", path: "../..")],
  targets: [
    .testTarget(
      name: "DelegationDistributedTests",
      dependencies: [
        library("Delegation"), library("DelegationDistributed"), library("DelegationTesting"),
        "DistributedPeer", "PipeCluster",
      ],
      path: "DelegationDistributedTests",
      swiftSettings: settings),
    // An actor system through pipes, and the program that the tests start.
    .target(name: "PipeCluster", path: "PipeCluster", swiftSettings: settings),
    .executableTarget(
      name: "DistributedPeer", dependencies: ["PipeCluster"], path: "DistributedPeer",
      swiftSettings: settings),
  ]
)
