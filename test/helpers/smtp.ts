import { SMTPServer } from "smtp-server";

/** An e-mail that was taken. */
export interface Mail {
  from: string;
  to: string[];
  raw: string;
}

/** An SMTP server on loopback. */
export interface Smtp {
  url: string;
  mails: Mail[];
  /** The status with which e-mails are refused; null: they are taken. */
  refuses: number | null;
  /** How many were refused. */
  refusals: number;
  stop(): Promise<void>;
}

export async function startSmtp(): Promise<Smtp> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, { envelope }, done) {
      const parts: Uint8Array[] = [];
      stream.on("data", (part: Uint8Array) => void parts.push(part));
      stream.on("end", () => {
        if (smtp.refuses !== null) {
          smtp.refusals++;
          return done(Object.assign(new Error("refused"), { responseCode: smtp.refuses }));
        }
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        mails.push({ from, to, raw: Buffer.concat(parts).toString() });
        done();
      });
    },
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const address = server.server.address();
  if (typeof address !== "object" || !address) throw new Error("the SMTP server has no port");
  const smtp: Smtp = {
    url: `smtp://127.0.0.1:${address.port}`,
    ...{ mails, refuses: null, refusals: 0 },
    stop: () => new Promise((done) => server.close(done)),
  };
  return smtp;
}
