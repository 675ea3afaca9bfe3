// `npm run bench -- --all --small`: every part at a size at which its figures say nothing, so that
// it is known within a minute or two whether each of them still runs. What does not follow from the
// number of orders asks here how large it is to be.

export const IS_SMALL = process.argv.includes('--small');

export function sized(whole, small) {
  return IS_SMALL ? small : whole;
}
