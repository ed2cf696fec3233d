import { AlarmClock, Bot, GitPullRequest, KeyRound, Rocket, Settings } from "lucide-react";

/** The tabs of a project: path, label and icon. */
export const TABS = [
  ["change-requests", "Change requests", GitPullRequest],
  ["sessions", "Sessions", Bot],
  ["apps", "Apps", Rocket],
  ["triggers", "Triggers", AlarmClock],
  ["secrets", "Secrets", KeyRound],
  ["settings", "Settings", Settings],
] as const;
