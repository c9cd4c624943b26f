//! LZ4: one frame per chunk, of independent blocks, with its content size and checksum.

use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};

use super::{Chunk, Codec};
use crate::container::lz4::{BlockMax, END_MARK, Header, block_word};
use crate::container::xxh32;
use crate::error::BoxError;

/// Compresses each chunk to one frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lz4;

/// A worker's table and the space a block is compressed into.
pub(crate) struct Lz4Context {
    table: CompressTable,
    scratch: Vec<u8>,
}

impl Codec for Lz4 {
    type Context = Lz4Context;

    fn context(&self) -> Result<Lz4Context, BoxError> {
        // Always the large one: the small one gives other bytes for short chunks, and a context must not.
        Ok(Lz4Context { table: CompressTable::large(), scratch: Vec::new() })
    }

    fn code(&self, context: &mut Lz4Context, chunk: Chunk<'_>, out: &mut Vec<u8>) -> Result<(), BoxError> {
        let block_max = BlockMax::holding(chunk.bytes.len());
        let header = Header {
            independent: true,
            block_checksum: false,
            content_size: Some(chunk.bytes.len() as u64),
            content_checksum: true,
            block_max,
        };
        header.push_to(out);
        for block in chunk.bytes.chunks(block_max.bytes()) {
            let bound = get_maximum_output_size(block.len());
            if context.scratch.len() < bound {
                context.scratch.resize(bound, 0);
            }
            let len = compress_into_with_table(block, &mut context.scratch, &mut context.table)?;
            if len < block.len() {
                out.extend_from_slice(&block_word(len, false));
                out.extend_from_slice(&context.scratch[..len]);
            } else {
                out.extend_from_slice(&block_word(block.len(), true));
                out.extend_from_slice(block);
            }
        }
        out.extend_from_slice(&END_MARK);
        out.extend_from_slice(&xxh32(chunk.bytes).to_le_bytes());
        Ok(())
    }
}
