// As the package unenv has it, with the platform's additions.
import all from "unenv/node/constants";
import { defaultCipherList as ciphers } from "unenv/node/internal/crypto/constants";

export * from "unenv/node/constants";
export const O_SYMLINK = 0x200000,
  SIGINFO = 29,
  defaultCipherList = ciphers;
export default { ...all, O_SYMLINK, SIGINFO, defaultCipherList };
