import { connect as connectTcp, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";

/** Where a connection goes: an address that was checked, and for TLS the name that its certificate must have. */
export interface Target {
  address: string;
  port: number;
  tlsName: string | null;
}

/** Connects to an address. With TLS, the certificate must be valid for the name. @throws the socket's error */
export async function connectTo(
  { address, port, tlsName }: Target,
  signal: AbortSignal,
  ca?: string,
): Promise<Duplex> {
  const socket =
    tlsName === null
      ? connectTcp({ host: address, port })
      : connectTls({
          host: address,
          port,
          // an address is no name for SNI (RFC 6066, section 3); the certificate is then compared with `host`
          servername: isIP(tlsName) ? "" : tlsName,
          ALPNProtocols: ["http/1.1"],
          ...(ca !== undefined && { ca }),
        });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = () => socket.destroy();
  signal.addEventListener("abort", stop);
  // stays until the end, since a socket's error without a listener would end the process
  socket.on("error", reject);
  socket.once("close", () => {
    signal.removeEventListener("abort", stop);
    reject(new Error("closed"));
  });
  socket.once(tlsName === null ? "connect" : "secureConnect", resolve);
  if (signal.aborted) stop();
  await promise;
  return socket;
}
