import type { Engine } from "../engine.ts";
import type {
  AdvertiseRequest,
  Branches,
  ReceiveRequest,
  RemoteRepository,
  Repository,
  UploadRequest,
} from "../git.ts";
import { pointHead } from "../mirror.ts";
import type { Mirrors } from "../mirrors.ts";
import { createIntake } from "./intake.ts";
import { advertiseReceive, receive } from "./receive.ts";
import { advertiseUpload, answerUpload } from "./upload.ts";

/** What a fetch asks for: a line of 50 bytes for each commit wanted or known, half a million of them. */
const QUESTION_MAX_BYTES = 32 * 1024 * 1024;
/** A listing that a client waits for. */
const LIST_MS = 20_000;

/** Repositories as git clients read and write them. */
export interface Serving {
  advertise(repo: Repository, request: AdvertiseRequest): Promise<Uint8Array>;
  upload(repo: Repository, request: UploadRequest): Promise<ReadableStream<Uint8Array>>;
  receive(repo: Repository, request: ReceiveRequest): Promise<ReadableStream<Uint8Array>>;
}

export function createServing(
  engine: Engine,
  mirrors: Mirrors,
  list: (repo: RemoteRepository, timeoutMs: number) => Promise<Branches>,
): Serving {
  const { stallMs, packBytes } = engine.limits;

  return {
    async advertise(repo, { service, protocol, head }) {
      const mirror = await mirrors.refresh(repo, (remote) => list(remote, LIST_MS));
      await pointHead(mirror, head);
      return service === "git-upload-pack"
        ? await advertiseUpload(engine, mirror, protocol)
        : await advertiseReceive(engine, mirror);
    },

    async upload(repo, { protocol, body, signal }) {
      const intake = createIntake(body, { maxBytes: QUESTION_MAX_BYTES, stallMs });
      const parts: Uint8Array[] = [];
      for (let piece = await intake.read(); piece; piece = await intake.read()) parts.push(piece);
      const question = Buffer.concat(parts);
      return await inTurn(repo, () =>
        mirrors.use(repo, [], async (mirror) =>
          answerUpload(engine, mirror, { protocol, body: question, signal }),
        ),
      );
    },

    async receive(repo, { body, judge }) {
      const intake = createIntake(body, { maxBytes: packBytes, stallMs });
      return await inTurn(repo, () =>
        mirrors.use(repo, [], async (mirror) => {
          const write = <T>(work: () => Promise<T>) => mirrors.write(mirror, work);
          const answer = await receive(engine, { repo, mirror, judge, write, list }, intake);
          return { ...answer, ended: answer.ended.then(() => mirrors.lookAfter(mirror)) };
        }),
      );
    },
  };

  /** The place is held until the transfer has ended; the answer begins before. */
  function inTurn(
    repo: Repository,
    start: () => Promise<{ stdout: ReadableStream<Uint8Array>; ended: Promise<unknown> }>,
  ): Promise<ReadableStream<Uint8Array>> {
    const answer = Promise.withResolvers<ReadableStream<Uint8Array>>();
    engine
      .transfers(repo.id, async () => {
        const { stdout, ended } = await start();
        answer.resolve(stdout);
        await ended;
      })
      .catch(answer.reject);
    return answer.promise;
  }
}
