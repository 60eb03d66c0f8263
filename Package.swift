// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
// Tests are compiled without optimization: that takes half as long, and what they test is optimized all the same.
let tests = strict + [.unsafeFlags(["-Onone"])]

// `make fuzz` sets it: the code under test is then compiled for libFuzzer, with a driver in place of the tests.
let isFuzzing = Context.environment["PHIBATCH_FUZZ"] != nil
// `make dev` sets it: all of Swift is then compiled without optimization, in a fraction of the time.
let plain: [SwiftSetting] =
    Context.environment["PHIBATCH_DEV"] != nil ? [.unsafeFlags(["-Onone"])] : []
let fuzzed = strict + (isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer,address"])] : []) + plain

// With -Osize these take four fifths of the time to compile, and are as fast, measured: the time goes in kernels, which are
// C. Before Swift 6.3 no package could depend on one with such flags.
#if compiler(>=6.3)
    let small = fuzzed + [.unsafeFlags(["-Osize"])] + plain
#else
    let small = fuzzed
#endif

/// What all other targets stand on.
let base: [Target.Dependency] = ["FoundationShim", "Errors", "JSON", "OperatingSystem"]

let fuzzParts: [Target.Dependency] = [
    "BatchEngine", "BatchPipeline", "TokenConstraints", "Errors", "JSON", "JSONSchema", "Jobs",
    "OperatingSystem",
    "PhiModel", "PhiText",
]
let fuzzFiles = ["corpus", "fuzz.sh", isFuzzing ? "Replay" : "Driver"]
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
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .target(name: "CPhiKernels", cSettings: kernels),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        // The header alone: "make mlx" compiles the rest against MLX, and the program loads it when a job asks for it.
        .systemLibrary(name: "CMLX"),
        // A header as well, of our own: libcurl is looked for when a model is fetched.
        .systemLibrary(name: "CCurl"),
        // The same of libmicrohttpd, which is looked for when requests are to be served.
        .systemLibrary(name: "CHTTP"),
        // Likewise: libzstd is looked for when something is packed with it.
        .systemLibrary(name: "CZstd"),
        // Foundation's essential part, without ICU.
        .target(name: "FoundationShim", swiftSettings: fuzzed),
        // Errors that a person can mend, and the messages that say so.
        .target(name: "Errors", dependencies: ["FoundationShim"], swiftSettings: fuzzed),
        .target(
            name: "JSON",
            dependencies: [
                "FoundationShim", "Errors",
            ],
            swiftSettings: fuzzed),
        // Files, memory, threads and processors.
        .target(
            name: "OperatingSystem",
            dependencies: [
                "CPhiKernels", "CZlib", "CZstd", "FoundationShim", "Errors", "JSON",
            ],
            swiftSettings: small),
        // Regular expressions as automata: of tokenizers, of schemas and of the masks.
        .target(name: "Regex", dependencies: ["FoundationShim", "Errors", "JSON"], swiftSettings: fuzzed),
        // A validator and what constrained answers need to know of a schema. Not on all of the base, so it need not wait for
        // kernels to be compiled.
        .target(
            name: "JSONSchema", dependencies: ["FoundationShim", "Errors", "JSON", "Regex"],
            swiftSettings: fuzzed
        ),
        // Scheduling, blocks of the cache, choice of tokens: all that is the same for every engine.
        .target(name: "BatchEngine", dependencies: base + ["CPhiKernels"], swiftSettings: fuzzed),
        // What masks are made of: schemas and regular expressions as automata over a vocabulary. Of the
        // modules that are ready, SwiftPM compiles first the one whose name sorts last: after PhiText this one would keep
        // Jobs waiting.
        .target(
            name: "TokenConstraints", dependencies: base + ["BatchEngine", "JSONSchema", "Regex"],
            swiftSettings: small),
        // Prompts as token ids and back: tokenizers and chat templates.
        .target(
            name: "PhiText",
            dependencies: base + ["BatchEngine", "Regex"],
            swiftSettings: fuzzed),
        .target(
            name: "PhiModel",
            dependencies: base + [
                "BatchEngine", "CMLX", "CPhiKernels", "PhiText",
            ],
            swiftSettings: small),
        .target(
            name: "ModelHub", dependencies: base + ["CCurl", "PhiModel"], swiftSettings: small),
        // Job files, their formats, results, journal and run. Knows no engine by name.
        .target(
            name: "Jobs",
            dependencies: base + [
                "BatchEngine", "TokenConstraints", "JSONSchema", "PhiText", "Regex",
            ],
            swiftSettings: small),
        // Jobs on models: what the program and programs outside begin with.
        .target(
            name: "BatchPipeline",
            dependencies: base + [
                "BatchEngine", "TokenConstraints", "JSONSchema", "Jobs", "PhiModel",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: small),
        // Requests that come by HTTP, as OpenAI's clients send them.
        .target(
            name: "Serving", dependencies: base + ["BatchPipeline", "CHTTP", "Jobs", "PhiModel"],
            swiftSettings: small),
        .executableTarget(
            name: "phibatch",
            dependencies: base + [
                "BatchEngine", "BatchPipeline", "TokenConstraints", "JSONSchema", "Jobs", "ModelHub",
                "PhiModel", "Serving",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            resources: [.embedInCode("Report/Page"), .embedInCode("Help/Topics")],
            swiftSettings: small),
        // For those who work on phibatch: not installed, and only built with the tests.
        .executableTarget(
            name: "phibatch-dev",
            dependencies: base + [
                "BatchEngine", "BatchPipeline", "CPhiKernels", "JSONSchema", "Jobs", "PhiModel", "PhiText",
                "TokenConstraints",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: small),
        // What tests of several parts need.
        .target(
            name: "TestSupport", dependencies: ["BatchEngine", "Errors"], path: "Tests/TestSupport",
            swiftSettings: tests),
        .testTarget(
            name: "ErrorsTests", dependencies: ["Errors"], swiftSettings: tests),
        .testTarget(
            name: "JSONTests", dependencies: ["JSON", "TestSupport"], swiftSettings: tests),
        .testTarget(
            name: "OperatingSystemTests", dependencies: base + ["TestSupport"], swiftSettings: tests),
        .testTarget(
            name: "RegexTests", dependencies: ["Regex"], swiftSettings: tests),
        .testTarget(
            name: "JSONSchemaTests", dependencies: base + ["JSONSchema"], swiftSettings: tests),
        .testTarget(
            name: "TokenConstraintsTests",
            dependencies: base + ["BatchEngine", "TokenConstraints", "JSONSchema", "Regex", "TestSupport"],
            swiftSettings: tests),
        .testTarget(
            name: "BatchEngineTests", dependencies: ["BatchEngine", "CPhiKernels", "TestSupport"],
            swiftSettings: tests),
        .testTarget(
            name: "ModelHubTests",
            dependencies: base + ["ModelHub", "PhiModel", "TestSupport"], swiftSettings: tests),
        .testTarget(
            name: "PhiModelTests",
            dependencies: base + [
                "BatchEngine", "CPhiKernels", "PhiModel", "PhiText", "Regex", "TestSupport",
            ],
            exclude: ["Fixtures"],
            swiftSettings: tests),
        .testTarget(
            name: "JobsTests",
            dependencies: base + [
                "BatchEngine", "BatchPipeline", "TokenConstraints", "Jobs", "PhiModel", "Serving",
                "TestSupport",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "PhibatchTests",
            dependencies: base + [
                "BatchPipeline", "JSONSchema", "Jobs", "PhiModel", "TestSupport", "TokenConstraints",
                "phibatch", "phibatch-dev",
            ],
            swiftSettings: tests),
        // As a program outside the package: what it can't see is not public.
        .testTarget(
            name: "LibraryTests", dependencies: ["BatchPipeline", "ModelHub", "PhiModel"],
            packageAccess: false, swiftSettings: tests),
        fuzz,
    ]
)
