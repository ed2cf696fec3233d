import { Options } from "./field.tsx";
import { THEMES, useTheme } from "./theme.ts";

const NAMES = { system: "System", light: "Light", dark: "Dark" };

/** The choice of the theme, stored in this browser. */
export function ThemeChoice() {
  const [theme, setTheme] = useTheme();
  return (
    <label className="flex items-center justify-between gap-2">
      Colours
      <select
        className="min-h-9 rounded-md border border-edge bg-surface px-2 py-1 text-ink"
        value={theme}
        onChange={(event) => setTheme(THEMES.find((each) => each === event.target.value) ?? "system")}
      >
        <Options of={THEMES.map((each) => [each, NAMES[each]])} />
      </select>
    </label>
  );
}
