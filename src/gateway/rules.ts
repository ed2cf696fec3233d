import type { PushJudge, UpdateKind } from "../git/git.ts";
import type { Pusher } from "./pusher.ts";

/** What the rules need to know of the project. */
export interface Ground {
  defaultBranch: string;
  /** Whether people may push the default branch: `[change_requests] direct_push` (contract: Manifest). */
  directPush(): Promise<boolean>;
}

type Refusal = Awaited<ReturnType<PushJudge>>;

const HEADS = "refs/heads/";
const TAGS = "refs/tags/";

/**
 * Who may push what (contract: The git gateway; spec 1, rules 1 to 8):
 * a session creates and fast-forwards its own branch, a project token any branch but the default one, and a person
 * everything but a rewritten or deleted default branch. svc's own refs are nobody's, but that the daemon of a sandbox
 * moves the one of its session's saved work as it likes, and no other.
 */
export async function judgePush(
  pusher: Pusher,
  ground: Ground,
  { ref, kind }: { ref: string; kind: UpdateKind },
): Promise<Refusal> {
  if (pusher.kind === "app") return onlyReads;
  if (pusher.kind === "saver") return ref === pusher.ref ? null : onlySaves;
  if (!ref.startsWith(HEADS) && !ref.startsWith(TAGS)) return notOurs(ref);
  const branch = ref.startsWith(HEADS) ? ref.slice(HEADS.length) : null;
  if (branch !== null && looksLike(branch, ground.defaultBranch)) return lookAlike(ground.defaultBranch);
  const isDefault = branch === ground.defaultBranch;
  if (pusher.kind === "user") return isDefault ? await judgeDefault(pusher, ground, kind) : null;
  if (isDefault)
    return onlyByChangeRequest(pusher, ground, "the default branch changes only by a change request");
  if (pusher.kind === "session" && branch !== pusher.branch) {
    return {
      reason: "a session pushes only its own branch",
      advice: `Push it with: git push origin HEAD:${pusher.branch}`,
    };
  }
  if (branch === null) {
    return { reason: "a project token pushes branches only", advice: "A person can push the tag." };
  }
  if (kind === "delete") {
    return {
      reason: "an agent deletes no branch",
      advice: "A person can delete it with a token of their own.",
    };
  }
  if (kind === "rewrite") {
    return {
      reason: "an agent rewrites no history",
      advice: "Take the commits back in with: git pull --rebase. Then push again without force.",
    };
  }
  return null;
}

const onlyReads = {
  reason: "a deployed app only reads the repository",
  advice: "Change it from a session, or from a clone of your own.",
};

const onlySaves = {
  reason: "this credential only saves the work of its session",
  advice: "Push branches with the session's own credential.",
};

async function judgeDefault(pusher: Pusher, ground: Ground, kind: UpdateKind): Promise<Refusal> {
  if (kind === "create") return null;
  if (kind === "delete") {
    return {
      reason: "the default branch cannot be deleted",
      advice:
        "Make another branch the default first: svc api -X PATCH projects/<id> -f default_branch=<name>",
    };
  }
  if (kind === "rewrite") {
    return {
      reason: "the default branch is never rewritten",
      advice: "Put your commits on top of it (git pull --rebase), and push again without force.",
    };
  }
  if (await ground.directPush()) return null;
  return onlyByChangeRequest(
    pusher,
    ground,
    "this project changes its default branch only by change requests",
  );
}

function onlyByChangeRequest(pusher: Pusher, ground: Ground, reason: string): Refusal {
  const branch = pusher.kind === "session" ? pusher.branch : "<branch>";
  return {
    reason,
    advice: `Push a branch and open a change request: git push origin HEAD:${branch}, then svc cr open --head ${branch} --base ${ground.defaultBranch} --title "…"`,
  };
}

function notOurs(ref: string): Refusal {
  const isOwn = /^refs\/(?:cr|svc)\//.test(ref);
  return {
    reason: isOwn ? "svc keeps these refs itself" : "only branches and tags can be pushed",
    advice: "Push to refs/heads/<branch> or refs/tags/<tag>.",
  };
}

/** Some disks take the two for one name, and so do people. */
function looksLike(branch: string, other: string): boolean {
  const plain = (name: string) => name.normalize("NFKC").toLowerCase();
  return branch !== other && plain(branch) === plain(other);
}

function lookAlike(defaultBranch: string): Refusal {
  return {
    reason: "it looks like the default branch and is another",
    advice: `The default branch is called ${defaultBranch}. Choose a name that cannot be taken for it.`,
  };
}
