import { Dialog } from "../parts/dialog.tsx";
import { useKeysOn, useShownKeys } from "../parts/keys.ts";
import { PALETTE_KEYS } from "./palette-keys.ts";

/** The keys that work on the current page. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const keys = useShownKeys();
  const [isOn, setIsOn] = useKeysOn();
  return (
    <Dialog title="Keyboard shortcuts" isDraft={false} onClose={onClose}>
      <label className="mb-3 flex items-center gap-2">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={isOn}
          onChange={(event) => setIsOn(event.target.checked)}
        />
        Keys without Ctrl or Cmd, in this browser
      </label>
      <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-2">
        <Row keys={PALETTE_KEYS} about="Command palette: go to a page, or do something" />
        {isOn && keys.map(({ key, about }) => <Row key={key} keys={key} about={about} />)}
      </dl>
    </Dialog>
  );
}

function Row({ keys, about }: { keys: string; about: string }) {
  return (
    <>
      <dt>
        <kbd className="font-mono">{keys}</kbd>
      </dt>
      <dd>{about}</dd>
    </>
  );
}
