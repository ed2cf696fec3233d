import { QUEUE_BRANCHES } from "../../contract/merge-queue.ts";
import type { PushJudge, UpdateKind } from "../../git/git.ts";
import { type NamePattern, skeletonsOf } from "./names.ts";
import type { Pusher } from "./pusher.ts";

/** The project's settings that the rules depend on. */
export interface BranchPolicy {
  defaultBranch: string;
  formerDefaultBranches: readonly string[];
  rules(): Promise<PushRules>;
}

/** The protected branches and tags, and whether people may push to them: `[change_requests] direct_push`. */
export interface PushRules {
  /** The default branch, the former ones, and those of the manifest. */
  branches: readonly NamePattern[];
  tags: readonly NamePattern[];
  directPush: boolean;
}

type Refusal = Awaited<ReturnType<PushJudge>>;

const HEADS = "refs/heads/";
const TAGS = "refs/tags/";

/**
 * Decides on a push (contract: The git gateway; spec 1, rules 1 to 8): a session can create and fast-forward its own
 * branch, a project token any unprotected branch, and a person everything except to rewrite or delete a protected branch.
 * A person can create a protected tag, and an owner or admin can change it. Clients cannot push svc's own refs, except
 * that the daemon of a sandbox can update the ref of its session's saved work.
 */
export async function judgePush(
  pusher: Pusher,
  policy: BranchPolicy,
  { ref, kind }: { ref: string; kind: UpdateKind },
): Promise<Refusal> {
  if (pusher.kind === "reader") return onlyReads;
  if (pusher.kind === "saver") return ref === pusher.ref ? null : onlySaves;
  if (!ref.startsWith(HEADS) && !ref.startsWith(TAGS)) return notOurs(ref);
  if (`${ref}/`.startsWith(HEADS + QUEUE_BRANCHES)) return onlyTheQueue;
  if (pusher.kind === "session" && ref === HEADS + pusher.branch) return judgeAgent(kind);
  const name = ref.slice((ref.startsWith(HEADS) ? HEADS : TAGS).length);
  const { branches, tags, directPush } = await policy.rules();
  const fault = kind === "delete" ? null : faultOfName(ref, name, branches);
  if (fault) return fault;
  if (ref.startsWith(HEADS) && fitsAny(branches, name))
    return judgeProtected(pusher, { policy, name, directPush }, kind);
  if (pusher.kind === "session") return onlyItsOwn(pusher.branch);
  if (ref.startsWith(TAGS)) return judgeTag(pusher, kind, fitsAny(tags, name));
  return pusher.kind === "user" ? null : judgeAgent(kind);
}

function onlyItsOwn(branch: string): Refusal {
  return {
    reason: "a session can push only its own branch",
    advice: `Push it with: git push origin HEAD:${branch}`,
  };
}

/** For a branch that an agent, or a script with a project token, may push. */
function judgeAgent(kind: UpdateKind): Refusal {
  if (kind === "delete") {
    return {
      reason: "an agent cannot delete branches",
      advice: "A person can delete it with their own token.",
    };
  }
  if (kind === "rewrite") {
    return {
      reason: "an agent cannot rewrite history",
      advice: "Rebase with: git pull --rebase. Then push again without force.",
    };
  }
  return null;
}

function judgeTag(pusher: Pusher, kind: UpdateKind, isProtected: boolean): Refusal {
  if (pusher.kind !== "user") {
    return { reason: "a project token can push branches only", advice: "A person can push the tag." };
  }
  if (!isProtected || kind === "create" || pusher.role !== "member") return null;
  return {
    reason: "this tag is protected",
    advice: "An owner or admin of the account can move or delete it. Choose a new name for another version.",
  };
}

const onlyReads = {
  reason: "this sandbox may only read the repository",
  advice: "Change it from a session, or from a clone of your own.",
};

const onlyTheQueue = {
  reason: `branches that begin with ${QUEUE_BRANCHES} belong to the merge queue`,
  advice: "Push to a branch of another name.",
};

const onlySaves = {
  reason: "this credential only saves the work of its session",
  advice: "Push branches with the session's own credential.",
};

interface Protected {
  policy: BranchPolicy;
  name: string;
  directPush: boolean;
}

function judgeProtected(pusher: Pusher, branch: Protected, kind: UpdateKind): Refusal {
  const { policy, name, directPush } = branch;
  const isDefault = name === policy.defaultBranch;
  const which = isDefault ? "the default branch" : "this branch is protected: it";
  if (pusher.kind !== "user")
    return onlyByChangeRequest(pusher, name, `${which} can be changed only by a change request`);
  if (kind === "delete") {
    return {
      reason: isDefault
        ? "the default branch cannot be deleted"
        : "this branch is protected, so it cannot be deleted",
      advice: adviceToUnprotect(branch),
    };
  }
  if (kind === "rewrite") {
    return {
      reason: isDefault
        ? "the default branch cannot be rewritten"
        : "this branch is protected, so it cannot be rewritten",
      advice: "Rebase your commits (git pull --rebase), and push again without force.",
    };
  }
  // the first push to an empty repository; a new protected branch would start with unreviewed commits
  if (directPush || (isDefault && kind === "create")) return null;
  if (kind === "create" && pusher.role !== "member") return null;
  return onlyByChangeRequest(
    pusher,
    name,
    "protected branches of this project can be changed only by change requests",
  );
}

/** How an owner or admin removes the protection of a branch. */
function adviceToUnprotect({ policy, name }: Protected): string {
  if (name === policy.defaultBranch)
    return "Make another branch the default first: svc api -X PATCH projects/<id> -f default_branch=<name>";
  if (policy.formerDefaultBranches.includes(name))
    return `It was the default branch. An owner or admin can remove its protection: svc api -X DELETE projects/<id>/protected/${name}`;
  return "Remove it from [branches] protected in svc.toml first.";
}

function onlyByChangeRequest(pusher: Pusher, base: string, reason: string): Refusal {
  const branch = pusher.kind === "session" ? pusher.branch : "<branch>";
  return {
    reason,
    advice: `Push a branch and open a change request: git push origin HEAD:${branch}, then svc cr open --head ${branch} --base ${base} --title "…"`,
  };
}

function notOurs(ref: string): Refusal {
  const isOwn = /^refs\/(?:cr|svc)\//.test(ref);
  return {
    reason: isOwn ? "these refs are reserved for svc" : "only branches and tags can be pushed",
    advice: "Push to refs/heads/<branch> or refs/tags/<tag>.",
  };
}

const fitsAny = (patterns: readonly NamePattern[], name: string) => patterns.some(({ fits }) => fits(name));

/** Why the name of a branch or tag is not allowed: it is ambiguous for git, or confusable for people. */
function faultOfName(ref: string, name: string, branches: readonly NamePattern[]): Refusal {
  if (name.startsWith("refs/")) {
    return {
      reason: "a name that begins with refs/ is ambiguous",
      advice: `Push to ${ref.slice(0, -name.length)}${name.replace(/^(?:refs\/(?:heads\/|tags\/)?)+/, "") || "<name>"} instead.`,
    };
  }
  const skeletons = skeletonsOf(name);
  const similar = branches.find(({ isConfusable }) => isConfusable(skeletons));
  const isTag = ref.startsWith(TAGS);
  if (similar === undefined || (!isTag && fitsAny(branches, name))) return null;
  return {
    reason: isTag
      ? "a tag cannot look like a protected branch"
      : "the name looks like that of a protected branch",
    advice: `${similar.pattern} is a protected branch. Choose a name that cannot be confused with it.`,
  };
}
