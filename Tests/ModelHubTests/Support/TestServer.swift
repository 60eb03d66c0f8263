import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An HTTP server on this machine's loopback address, at a port of its own.
final class TestServer: Sendable {
    struct Request: Sendable {
        var method: String
        var path: String
        var headers: [String: String]
    }

    struct Answer: Sendable {
        var status = 200
        var headers: [(String, String)] = []
        var body: [UInt8] = []
        /// Of the body so many bytes are sent, then the connection ends.
        var cutAfter: Int?
        /// The connection does not end there: nothing more comes.
        var goesSilent = false
    }

    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    private let log: RequestLog

    /// All requests so far.
    var requests: [Request] { log.requests.withLock { $0 } }
    var address: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

    init(answer: @escaping @Sendable (Request) -> Answer) throws {
        let log = RequestLog()
        self.log = log
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        channel = try ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(
                        Handler { request in
                            log.requests.withLock { $0.append(request) }
                            return answer(request)
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
    }

    func stop() throws {
        try channel.close().wait()
        try group.syncShutdownGracefully()
    }

    private final class RequestLog: Sendable {
        let requests = Mutex<[Request]>([])
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private let answer: @Sendable (Request) -> Answer
        private var request: Request?

        init(_ answer: @escaping @Sendable (Request) -> Answer) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                var headers: [String: String] = [:]
                for (name, value) in head.headers { headers[name.lowercased()] = value }
                request = Request(method: head.method.rawValue, path: head.uri, headers: headers)
            case .body: break
            case .end:
                guard let request else { return }
                send(answer(request), to: request, context)
            }
        }

        private func send(_ answer: Answer, to request: Request, _ context: ChannelHandlerContext) {
            var headers = HTTPHeaders(answer.headers)
            if !headers.contains(name: "Content-Length") {
                headers.add(name: "Content-Length", value: "\(answer.body.count)")
            }
            let head = HTTPResponseHead(
                version: .http1_1, status: .init(statusCode: answer.status), headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            if request.method != "HEAD" {
                let bytes = answer.body.prefix(answer.cutAfter ?? answer.body.count)
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
            }
            guard answer.cutAfter == nil || request.method == "HEAD" else {
                let loopBound = NIOLoopBound(context, eventLoop: context.eventLoop)
                context.flush()
                if answer.goesSilent { return }
                context.eventLoop.execute { loopBound.value.close(promise: nil) }
                return
            }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
