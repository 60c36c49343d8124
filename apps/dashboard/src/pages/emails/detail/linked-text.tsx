const ADDRESS = /(https:\/\/[^\s,;()]*[^\s,;().])/;

/** Renders a sentence of ours, with its addresses as links. Not for text that a stranger wrote. */
export function LinkedText({ text }: { readonly text: string }) {
  return text.split(ADDRESS).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <a key={part} href={part} target="_blank" rel="noreferrer">
        {part}
      </a>
    ),
  );
}
