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
    // The demo. `swift run` runs it, since no other target is a program.
    .executableTarget(name: "chatroom", dependencies: ["Delegation"], swiftSettings: settings),
    .testTarget(
      name: "DelegationTests", dependencies: ["Delegation", "DelegationTesting"],
      swiftSettings: settings),
    // Imports nothing but `DelegationTesting` and `Testing`, as its users do.
    .testTarget(
      name: "DelegationTestingTests", dependencies: ["DelegationTesting"], swiftSettings: settings),
    // The documentation's samples of a cluster, with types of their own. Imports nothing of this package but
    // `DelegationDistributed`.
    .testTarget(
      name: "DistributedSampleTests", dependencies: ["DelegationDistributed"],
      swiftSettings: settings),
  ]
)
