/**
 * Characters that are acted on instead of shown: control characters, direction marks, other invisible formatting, line
 * separators and lone surrogates. A terminal obeys them, a reader does not see them. The joiners are left out, since
 * emoji and several scripts are written with them.
 */
export const HIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]|(?![\u00ad\u200c\u200d])\p{Cf}/gu;
/** The same, but for what lays out text: line feed and tab. */
export const HIDDEN_IN_TEXT =
  /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]|(?![\u00ad\u200c\u200d])\p{Cf}/gu;
