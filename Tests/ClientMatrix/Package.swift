// swift-tools-version: 6.2
import PackageDescription

// One client source, once for each kind of module that a user of the library may have. `.ci/clients`
// builds and runs them all.

let upcomingFeatures = [
  "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances",
  "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]

/// The source cannot ask for the default isolation, so it is told.
let onMainActor: [SwiftSetting] = [
  .defaultIsolation(MainActor.self), .define("MAIN_ACTOR_BY_DEFAULT"),
]

/// Each differs from the others in what the compiler makes of one of the client's sources.
let modes: KeyValuePairs<String, [SwiftSetting]> = [
  "Swift6": [],
  "Swift5": [.swiftLanguageMode(.v5)],
  "MainActorDefault5": onMainActor + [.swiftLanguageMode(.v5)],
  "Upcoming": upcomingFeatures.map { .enableUpcomingFeature($0) },
  "Everything": onMainActor + [.strictMemorySafety()]
    + upcomingFeatures.map { .enableUpcomingFeature($0) },
]

let package = Package(
  name: "client-matrix",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-delegate-hub", path: "../..")],
  targets: modes.map { name, settings in
    .executableTarget(
      name: name,
      dependencies: ["Delegation", "DelegationDistributed", "DelegationTesting"].map {
        .product(name: $0, package: "swift-delegate-hub")
      },
      // A link to `Client`: two targets cannot have the same folder.
      path: "Modes/\(name)",
      swiftSettings: settings + [.treatAllWarnings(as: .error)])
  }
)
