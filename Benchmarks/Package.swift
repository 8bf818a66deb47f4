// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// Not in what `adopt` copies: its readers have no such names.
let delegation = Target.Dependency.product(name: "Delegation", package: "swift-delegate-hub")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let sockets = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let lifecycle = Target.Dependency.product(
  name: "ServiceLifecycle", package: "swift-service-lifecycle")

let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "DelegationAdapters", targets: ["DelegationAdapters"]),
    .library(name: "DelegationPage", targets: ["DelegationPage"]),
  ],
  dependencies: [
    // Named, for a path's own identity is the folder's name, which is whatever it was cloned into.
    .package(name: "swift-delegate-hub", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-service-context", from: "1.5.1"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    // Without its traits: they are for counting allocations, by packages of their own.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    .target(name: "CMeasures"),
    .executableTarget(
      name: "DelegationBenchmarks",
      dependencies: [.product(name: "Benchmark", package: "benchmark"), delegation],
      path: "Benchmarks/DelegationBenchmarks", swiftSettings: settings,
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    .executableTarget(
      name: "compare",
      dependencies: ["CMeasures", arguments, delegation], swiftSettings: settings),
    .executableTarget(
      name: "stress", dependencies: [arguments, delegation], swiftSettings: settings),
    .executableTarget(
      name: "counted", dependencies: ["CMeasures", delegation], swiftSettings: settings),
    .testTarget(name: "CompareTests", dependencies: ["compare"], swiftSettings: settings),
    .testTarget(
      name: "StressTests", dependencies: ["stress", delegation], swiftSettings: settings),

    // What servers take from this package, the chat server that uses it, and their tests.
    .target(
      name: "DelegationAdapters",
      dependencies: [
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Delegation", package: "swift-delegate-hub"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ],
      swiftSettings: settings),
    .target(
      name: "DelegationPage",
      dependencies: [
        .product(name: "Delegation", package: "swift-delegate-hub"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      resources: [.embedInCode("page.html")],
      swiftSettings: settings),
    .target(
      name: "ChatServerKit",
      dependencies: [
        "DelegationAdapters", "DelegationPage", delegation, logging, nio, sockets, lifecycle,
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      // Without the upcoming features, as the readers of its samples may be.
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "ChatServer",
      dependencies: ["ChatServerKit", arguments, delegation, logging],
      swiftSettings: settings),
    .executableTarget(
      name: "ChatLoad",
      dependencies: [
        "ChatServerKit", "DelegationPage", arguments, logging,
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "IntegrationTests",
      dependencies: [
        "DelegationAdapters", delegation, logging, nio, sockets, lifecycle,
        .product(name: "DelegationTesting", package: "swift-delegate-hub"),
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "ServiceContextModule", package: "swift-service-context"),
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ChatServerTests",
      dependencies: [
        "ChatServer", "ChatServerKit", "DelegationAdapters", "DelegationPage", delegation,
        logging, lifecycle,
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)]),
  ]
)
