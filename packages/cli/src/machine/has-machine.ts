/** Whether the commands that open this machine's database are here; the packed command line replaces this folder. */
export const has_machine: boolean = true;
