import { DEFAULT_METHODS, MERGE_METHODS, type MergeMethod } from "../merge-method.ts";
import * as kinds from "./kinds.ts";
import { isTable, type Path, type Problem, type Table, type TableShape, wrong } from "./shape.ts";

/** The rules of change requests. */
export interface ChangeRequestRules {
  agentMerge: boolean;
  directPush: boolean;
  requiredApprovals: number;
  selfApproval: boolean;
  requireCodeOwnerReview: boolean;
  /** Empty if the manifest names no valid one. */
  methods: MergeMethod[];
}

export const changeRequestsShape: TableShape = {
  is: "table",
  about: "The rules of change requests.",
  fields: {
    agent_merge: {
      is: "value",
      kind: kinds.flag,
      fallback: false,
      about:
        "Whether agents may merge changes that affect neither this file nor the configuration of agents.",
    },
    direct_push: {
      is: "value",
      kind: kinds.flag,
      fallback: true,
      about: "Whether people may push to protected branches.",
    },
    required_approvals: {
      is: "value",
      kind: kinds.approvals,
      fallback: 0,
      about: "Approvals that a merge requires.",
    },
    self_approval: {
      is: "value",
      kind: kinds.flag,
      fallback: false,
      about: "Whether the approval of the person who opened it, or for whom an agent opened it, counts.",
    },
    require_code_owner_review: {
      is: "value",
      kind: kinds.flag,
      fallback: false,
      about: "Whether a merge requires, for each changed file with code owners, the approval of one of them.",
    },
    methods: {
      is: "values",
      kind: kinds.mergeMethod,
      valuesMax: MERGE_METHODS.length,
      about: `How change requests can be merged, the default first. Without it: ${DEFAULT_METHODS.map((each) => `\`${each}\``).join(", ")}. \`merge\` includes \`ff-only\`.`,
    },
  },
  problemsOf: problemsOfMethods,
};

function problemsOfMethods({ methods }: Table, path: Path): Problem[] {
  const isEmpty = Array.isArray(methods) && methods.length === 0;
  return isEmpty ? [wrong([...path, "methods"], "must name at least one method")] : [];
}

/** An invalid value counts as the most restrictive one. */
export function readChangeRequests(root: Table): ChangeRequestRules {
  const most = kinds.APPROVALS_MAX;
  const table = root["change_requests"] ?? {};
  if (!isTable(table))
    return {
      agentMerge: false,
      directPush: false,
      requiredApprovals: most,
      selfApproval: false,
      requireCodeOwnerReview: true,
      methods: [],
    };
  const { agent_merge = false, direct_push = true, required_approvals = 0, self_approval = false } = table;
  const { require_code_owner_review = false, methods = DEFAULT_METHODS } = table;
  return {
    agentMerge: agent_merge === true,
    directPush: direct_push === true,
    requiredApprovals: kinds.approvals.fits(required_approvals) ? required_approvals : most,
    selfApproval: self_approval === true,
    requireCodeOwnerReview: require_code_owner_review !== false,
    methods: Array.isArray(methods) ? [...new Set(methods.filter(kinds.mergeMethod.fits))] : [],
  };
}
