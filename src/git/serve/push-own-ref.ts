import { SvcError } from "../../contract/errors.ts";
import type { RemoteRepository } from "../git.ts";
import type { Mirror } from "../mirror/mirror.ts";
import { pushRefs } from "../remote/push.ts";
import { openRemote } from "../remote/remote.ts";
import type { Engine } from "../run/engine.ts";
import { listRefs } from "./ref-list.ts";

/**
 * Pushes one of svc's own refs to the repository's host. Some hosts reject such refs: then only svc's repository has
 * it.
 */
export async function pushOwnRef(
  engine: Engine,
  repo: RemoteRepository,
  mirror: Mirror,
  ref: string,
): Promise<void> {
  try {
    const to = (await listRefs(engine, mirror, [ref])).get(ref) ?? null;
    await using remote = await openRemote(engine.remote, repo);
    const { outcomes } = await engine.network(repo.id, () =>
      pushRefs(engine, remote, [{ ref, from: null, to }], {
        environment: { GIT_DIR: mirror.directory },
        atomic: false,
        anywhere: true,
        deadlineMs: engine.limits.pushMs,
      }),
    );
    const outcome = outcomes.get(ref);
    if (outcome?.outcome !== "moved") engine.log.info({ repo: repo.id, ref, outcome }, REFUSED);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    engine.log.info({ repo: repo.id, ref, reason: error.message }, REFUSED);
  }
}

const REFUSED = "the git host did not accept a ref of svc: only svc's copy of the repository has it";
