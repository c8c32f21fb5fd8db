/** The most of one result that the model is shown, in bytes and in lines. */
export const OUTPUT = { bytes: 50 * 1024, lines: 2_000 } as const;

export const DETAILS_BYTES = 1024 * 1024;

export const INPUT_BYTES = 1024 * 1024;

/** Files above this size are not searched. */
export const SEARCHED_FILE_BYTES = 5 * 1024 * 1024;

/** Files above this size are not edited: their text is held in memory, and compared. */
export const EDITED_FILE_BYTES = 5 * 1024 * 1024;

/** The longest section of a tool in the manual, in bytes of UTF-8. */
export const PROMPT_BYTES = 8 * 1024;
