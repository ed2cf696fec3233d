import { type ComponentProps, useState } from "react";
import { TextArea } from "./field.tsx";

/** A field for a secret of one or more lines, such as a private key. It is masked unless the user shows it. */
export function SecretText({ ...rest }: ComponentProps<typeof TextArea>) {
  const [isShown, setIsShown] = useState(false);
  return (
    <div>
      <TextArea
        rows={3}
        spellCheck={false}
        autoCapitalize="off"
        autoCorrect="off"
        isHidden={!isShown}
        {...rest}
      />
      <label className="mt-1 inline-flex items-center gap-2 text-sm">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={isShown}
          onChange={(event) => setIsShown(event.target.checked)}
        />
        Show what I type
      </label>
    </div>
  );
}
