/** Confirms next to the button of a form that its values are saved. */
export function Saved({ when, children = "Saved" }: { when: boolean; children?: string }) {
  return (
    <span role="status" className="text-ok">
      {when && (
        <>
          <span aria-hidden="true">✓ </span>
          {children}
        </>
      )}
    </span>
  );
}
