import { connect } from "node:net";
import type { AcceptConnection, RejectConnection, ServerChannel, TcpipRequestInfo } from "ssh2";

/** Names of the sandbox's own loopback. A forward leads nowhere else: the network has its own rules. */
const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1", "0.0.0.0", "::"]);

/** Connects a client to a port of the sandbox (`ssh -L`, `ssh -D`). @param onEnd called once, also when it is refused */
export function connectForward(
  { destIP, destPort }: Pick<TcpipRequestInfo, "destIP" | "destPort">,
  accept: AcceptConnection<ServerChannel>,
  reject: RejectConnection,
  onEnd: () => void,
): void {
  if (!LOOPBACK.has(destIP)) {
    reject();
    onEnd();
    return;
  }
  const socket = connect({ host: destIP, port: destPort, allowHalfOpen: true });
  let channel: ServerChannel | null = null;
  socket.once("connect", () => {
    channel = accept();
    channel.on("error", () => socket.destroy());
    channel.on("close", () => socket.destroy());
    socket.pipe(channel).pipe(socket);
  });
  socket.on("error", () => {
    if (channel === null) reject();
    else channel.destroy();
  });
  socket.once("close", () => {
    channel?.end();
    onEnd();
  });
}
