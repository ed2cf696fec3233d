import type { Tool } from "./tool.ts";
import { changeRequestTools } from "./tools/change-requests.ts";
import { commentTools } from "./tools/comments.ts";
import { projectTools } from "./tools/projects.ts";
import { promptTools } from "./tools/prompts.ts";
import { sessionTools } from "./tools/sessions.ts";
import { triggerTools } from "./tools/triggers.ts";

/** All tools of svc itself, in display order. None approves or merges. */
export const TOOLS: readonly Tool[] = [
  ...projectTools,
  ...changeRequestTools,
  ...commentTools,
  ...sessionTools,
  ...promptTools,
  ...triggerTools,
];
