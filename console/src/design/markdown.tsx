import { visible } from "@triplane/client/command-lines";
import { memo, type ReactNode } from "react";
import { blocksOf, namesItsHost, type Block, type Inline } from "./markdown.ts";
import { visibleLines } from "./visible-lines.ts";

/** A text of a model: formatted, without HTML and images. A link names the host that it leads to. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="markdown">
      <Blocks blocks={blocksOf(text)} />
    </div>
  );
});

function Blocks({ blocks }: { readonly blocks: readonly Block[] }): ReactNode {
  return blocks.map((block, index) => <OneBlock key={index} block={block} />);
}

function OneBlock({ block }: { readonly block: Block }): ReactNode {
  switch (block.kind) {
    case "paragraph":
      return (
        <p>
          <Inlines parts={block.parts} />
        </p>
      );
    case "heading":
      return (
        // Below the page's own heading, whatever level a model begins with.
        <p className="heading" role="heading" aria-level={2}>
          <Inlines parts={block.parts} />
        </p>
      );
    case "code":
      return (
        <pre tabIndex={0}>
          <code>{visibleLines(block.text)}</code>
        </pre>
      );
    case "quote":
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case "list": {
      const items = block.items.map((item, index) => (
        <li key={index}>
          <Blocks blocks={item} />
        </li>
      ));
      return block.isOrdered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return (
        <div className="table-scroll" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {block.head.map((cell, index) => (
                  <th key={index}>
                    <Inlines parts={cell} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, column) => (
                    <td key={column}>
                      <Inlines parts={cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case "rule":
      return <hr />;
  }
}

function Inlines({ parts }: { readonly parts: readonly Inline[] }): ReactNode {
  return parts.map((part, index) => <OneInline key={index} part={part} />);
}

function OneInline({ part }: { readonly part: Inline }): ReactNode {
  switch (part.kind) {
    case "text":
      return visible(part.text);
    case "code":
      return <code>{visible(part.text)}</code>;
    case "strong":
      return (
        <strong>
          <Inlines parts={part.parts} />
        </strong>
      );
    case "emphasis":
      return (
        <em>
          <Inlines parts={part.parts} />
        </em>
      );
    case "struck":
      return (
        <s>
          <Inlines parts={part.parts} />
        </s>
      );
    case "link":
      return (
        <a href={part.url} target="_blank" rel="noopener noreferrer nofollow" title={part.url}>
          {visible(part.text)}
          {namesItsHost(part) ? null : <span className="host"> ({visible(part.host)})</span>}
        </a>
      );
  }
}
