// swift-tools-version: 6.2
import Foundation
import PackageDescription

// Where the library is: here, or where DELEGATION_PATH says, such as a checkout of the first edition.
let library = Context.environment["DELEGATION_PATH"] ?? Context.packageDirectory + "/../.."

// Some calls have other names in the first edition, which is told by a file that is elsewhere now.
let isFirst = FileManager.default.fileExists(
  atPath: library + "/Sources/Delegation/Subscription.swift")

let package = Package(
  name: "defects",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-delegate-hub", path: library)],
  targets: [
    .target(name: "Memory"),
    .executableTarget(
      name: "defects",
      dependencies: ["Memory", .product(name: "Delegation", package: "swift-delegate-hub")],
      swiftSettings: [.swiftLanguageMode(.v6)] + (isFirst ? [.define("FIRST_EDITION")] : [])),
  ]
)
