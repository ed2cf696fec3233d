import { SvcError } from "../../contract/errors.ts";
import { holdSlot } from "../../lib/gate.ts";
import { within } from "../../lib/within.ts";
import {
  type AdvertiseRequest,
  type Branches,
  isRemote,
  type ReceiveRequest,
  type RemoteRepository,
  type Repository,
  type Transfer,
  type UploadRequest,
} from "../git.ts";
import { type Mirror, pointHead } from "../mirror/mirror.ts";
import type { Mirrors } from "../mirror/mirrors.ts";
import type { Engine } from "../run/engine.ts";
import { pushOwnRef } from "./push-own-ref.ts";
import { readPushHead } from "./push-request.ts";
import { advertiseReceive, receive } from "./receive.ts";
import { createRequestReader } from "./request-reader.ts";
import { advertiseUpload, answerUpload } from "./upload.ts";

/** A fetch request: half a million commits wanted or known, with a line of 50 bytes for each. */
const REQUEST_MAX_BYTES = 32 * 1024 * 1024;
/** Clients read an error only after they have sent everything, so twice the limit is read. */
const OVERSIZE_FACTOR = 2;
/** For a listing while a client waits. */
const LIST_MS = 20_000;

const asItIs = async (mirror: Mirror): Promise<Mirror> => mirror;

/** Serves repositories to git clients. */
export interface Serving {
  advertise(repo: Repository, request: AdvertiseRequest): Promise<Uint8Array>;
  upload(repo: Repository, request: UploadRequest): Promise<Transfer>;
  receive(repo: Repository, request: ReceiveRequest): Promise<Transfer>;
}

export function createServing(
  engine: Engine,
  mirrors: Mirrors,
  list: (repo: RemoteRepository, timeoutMs: number) => Promise<Branches>,
): Serving {
  const { stallMs, transferMs, packBytes, commandsMs } = engine.limits;

  return {
    async advertise(repo, { service, protocol, head, own }) {
      const fresh = mirrors.refresh(repo, (remote) => list(remote, LIST_MS));
      // svc's own refs do not need the host
      const mirror = own === undefined ? await fresh : await fresh.catch(() => mirrors.use(repo, [], asItIs));
      await pointHead(mirror, head);
      return service === "git-upload-pack"
        ? await advertiseUpload(engine, mirror, protocol)
        : await advertiseReceive(engine, mirror, own);
    },

    async upload(repo, { protocol, body, signal, share }) {
      const reader = createRequestReader(body, { maxBytes: REQUEST_MAX_BYTES, stallMs, transferMs });
      const parts: Uint8Array[] = [];
      for (let piece = await reader.read(); piece; piece = await reader.read()) parts.push(piece);
      const wants = Buffer.concat(parts);
      return await share(() =>
        holdSlot(engine.reads, repo.id, () =>
          mirrors.use(repo, [], async (mirror) =>
            answerUpload(engine, mirror, { protocol, body: wants, signal }),
          ),
        ),
      );
    },

    async receive(repo, { body, judge, share, own, changed }) {
      const reader = createRequestReader(body, {
        maxBytes: packBytes * OVERSIZE_FACTOR,
        stallMs,
        transferMs,
      });
      const head = await within(readPushHead(reader), commandsMs, commandsLate);
      const push = () =>
        mirrors.use(repo, [], async (mirror) => {
          const write = <T>(work: () => Promise<T>) => mirrors.write(mirror, work);
          const context = {
            repo,
            mirror,
            judge,
            write,
            list,
            ...(own && { own }),
            ...(changed && { changed }),
          };
          const answer = await receive(engine, context, head, reader);
          const ended = answer.ended.then(() => mirrors.maintain(mirror));
          if (!own || !isRemote(repo)) return { ...answer, ended };
          return { ...answer, ended: ended.then(() => pushOwnRef(engine, repo, mirror, own.ref)) };
        });
      return await share(() => holdSlot(engine.pushes, repo.id, push));
    },
  };
}

function commandsLate(): SvcError {
  return new SvcError("request_timeout", "The list of refs to push did not arrive in time. Push again.");
}
