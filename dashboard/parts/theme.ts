import { useSyncExternalStore } from "react";
import { readStored, store } from "./stored.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "svc-theme";
const DARK = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

/** Applies the chosen theme, or the one that the system prefers. */
export function applyTheme(): void {
  const theme = chosen();
  const isDark = theme === "dark" || (theme === "system" && DARK.matches);
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
  for (const listener of listeners) listener();
}
DARK.addEventListener("change", applyTheme);

/** The chosen theme and its setter. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const theme = useSyncExternalStore(subscribe, chosen);
  return [theme, choose];
}

function choose(theme: Theme): void {
  // without local storage the system's preference applies
  store(KEY, theme);
  applyTheme();
}

function chosen(): Theme {
  const kept = readStored(KEY);
  return THEMES.find((theme) => theme === kept) ?? "system";
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
