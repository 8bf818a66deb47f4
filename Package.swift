// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6)
]

let package = Package(
  name: "swift-delegate-hub",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Delegation", targets: ["Delegation"])
  ],
  targets: [
    .target(name: "Delegation", swiftSettings: settings),
    .executableTarget(name: "chatroom", dependencies: ["Delegation"], swiftSettings: settings),
    .testTarget(name: "DelegationTests", dependencies: ["Delegation"], swiftSettings: settings),
  ]
)
