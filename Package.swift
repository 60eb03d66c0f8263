// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
// Tests are compiled without optimization: that takes half as long, and what they test is optimized all the same.
let tests = strict + [.unsafeFlags(["-Onone"])]

// `make fuzz` sets it: the code under test is then compiled for libFuzzer, with a driver in place of the tests.
let isFuzzing = Context.environment["PHIBATCH_FUZZ"] != nil
let fuzzed = strict + (isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer,address"])] : [])

let fuzzParts: [Target.Dependency] = [
    "BatchEngine", "BatchPipeline", "Constraints", "Foundations", "JSONSchema", "PhiModel",
]
let fuzzFiles = ["corpus", "dictionaries", "fuzz.sh", isFuzzing ? "Replay" : "Driver"]
let fuzz: Target =
    isFuzzing
    ? .executableTarget(
        name: "phibatch-fuzz", dependencies: fuzzParts, path: "Tests/Fuzz", exclude: fuzzFiles,
        sources: ["Targets", "Driver"],
        swiftSettings: strict)
    : .testTarget(
        name: "FuzzTests", dependencies: fuzzParts, path: "Tests/Fuzz", exclude: fuzzFiles,
        sources: ["Targets", "Replay"],
        swiftSettings: strict)

// psabi warns of vectors handed between functions; ours are all inlined.
let kernels: [CSetting] = [
    .enableWarning("all"), .treatAllWarnings(as: .error), .disableWarning("psabi"),
]

let package = Package(
    name: "phibatch",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "phibatch", targets: ["phibatch"]),
        // Three, as answers need neither files nor YAML, nor a network. The others are no products: nobody outside
        // needs them.
        .library(name: "PhiModel", targets: ["PhiModel"]),
        .library(name: "ModelHub", targets: ["ModelHub"]),
        .library(name: "BatchPipeline", targets: ["BatchPipeline"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .target(name: "CPhiKernels", cSettings: kernels),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        // The header alone: "make mlx" compiles the rest against MLX, and the program loads it when a job asks for it.
        .systemLibrary(name: "CMLX"),
        // A header as well, of our own: libcurl is looked for when a model is fetched.
        .systemLibrary(name: "CCurl"),
        .target(
            name: "Foundations",
            dependencies: [
                "CPhiKernels",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "OrderedCollections", package: "swift-collections"),
            ],
            swiftSettings: fuzzed),
        // A validator and what constrained answers need to know of a schema.
        .target(name: "JSONSchema", dependencies: ["Foundations"], swiftSettings: fuzzed),
        .target(
            name: "BatchEngine", dependencies: ["Foundations"], swiftSettings: fuzzed),
        // What masks are made of: schemas and regular expressions as automata over a vocabulary.
        .target(
            name: "Constraints", dependencies: ["BatchEngine", "Foundations", "JSONSchema"],
            swiftSettings: fuzzed),
        .target(
            name: "PhiModel",
            dependencies: [
                "BatchEngine", "CMLX", "CPhiKernels", "Foundations",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: fuzzed),
        .target(
            name: "ModelHub",
            dependencies: ["CCurl", "Foundations", "PhiModel"], swiftSettings: strict),
        .target(
            name: "BatchPipeline",
            dependencies: [
                "BatchEngine", "Constraints", "CZlib", "Foundations", "JSONSchema", "PhiModel",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: fuzzed),
        .executableTarget(
            name: "phibatch",
            dependencies: [
                "BatchEngine", "BatchPipeline", "Constraints", "Foundations", "JSONSchema", "ModelHub",
                "PhiModel",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        // What tests of several parts need.
        .target(
            name: "TestSupport", dependencies: ["BatchEngine"], path: "Tests/TestSupport",
            swiftSettings: tests),
        .testTarget(
            name: "FoundationsTests",
            dependencies: ["Foundations", "TestSupport"],
            swiftSettings: tests),
        .testTarget(
            name: "JSONSchemaTests", dependencies: ["Foundations", "JSONSchema"], swiftSettings: tests),
        .testTarget(
            name: "ConstraintsTests",
            dependencies: ["BatchEngine", "Constraints", "Foundations", "JSONSchema"],
            swiftSettings: tests),
        .testTarget(
            name: "BatchEngineTests", dependencies: ["BatchEngine", "TestSupport"], swiftSettings: tests),
        .testTarget(
            name: "ModelHubTests",
            dependencies: ["Foundations", "ModelHub", "PhiModel"], swiftSettings: tests),
        .testTarget(
            name: "PhiModelTests",
            dependencies: ["BatchEngine", "CPhiKernels", "Foundations", "PhiModel", "TestSupport"],
            exclude: ["Fixtures"],
            swiftSettings: tests),
        .testTarget(
            name: "BatchPipelineTests",
            dependencies: ["BatchEngine", "BatchPipeline", "Foundations", "TestSupport"],
            swiftSettings: tests),
        .testTarget(
            name: "PhibatchTests",
            dependencies: [
                "BatchPipeline", "Foundations", "PhiModel", "phibatch",
            ],
            swiftSettings: tests),
        // As a program outside the package: what it can't see is not public.
        .testTarget(
            name: "LibraryTests", dependencies: ["BatchPipeline", "ModelHub", "PhiModel"],
            packageAccess: false, swiftSettings: tests),
        fuzz,
    ]
)
