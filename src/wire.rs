//! A protobuf message, written field by field out of what is there.
//!
//! Decision: decisions, and replies that hold facts, are written this way and not as values of the generated types. Each
//! recall writes hundreds of fields of each, and those types own every string. The cost is that a field's number stands
//! in the code and in the proto; tests read all of them back as the generated types.

/// How a field is laid out.
const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const LENGTH: u64 = 2;

const LONGEST_VARINT: usize = 10;

/// The bytes so far. As in proto3, a field that is not optional and has its default value is left out.
#[derive(Debug, Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    /// An empty one, with room for so many bytes.
    pub(crate) fn with_room(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn text(&mut self, field: u64, text: &str) -> &mut Self {
        self.bytes(field, text.as_bytes())
    }

    /// One that may be absent; an empty one is not.
    pub(crate) fn optional_text(&mut self, field: u64, text: Option<&str>) -> &mut Self {
        self.texts(field, text)
    }

    pub(crate) fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        if !bytes.is_empty() {
            self.element(field, bytes);
        }
        self
    }

    /// Each of a repeated field, empty ones too.
    pub(crate) fn texts<'a>(&mut self, field: u64, texts: impl IntoIterator<Item = &'a str>) -> &mut Self {
        for text in texts {
            self.element(field, text.as_bytes());
        }
        self
    }

    pub(crate) fn number(&mut self, field: u64, number: i64) -> &mut Self {
        self.optional(field, (number != 0).then_some(number))
    }

    pub(crate) fn flag(&mut self, field: u64, flag: bool) -> &mut Self {
        self.number(field, i64::from(flag))
    }

    pub(crate) fn optional(&mut self, field: u64, number: Option<i64>) -> &mut Self {
        if let Some(number) = number {
            self.key(field, VARINT);
            self.varint(number.cast_unsigned());
        }
        self
    }

    /// Each of a repeated field of numbers or enums.
    pub(crate) fn numbers(&mut self, field: u64, numbers: impl IntoIterator<Item = i64>) -> &mut Self {
        let mut numbers = numbers.into_iter().peekable();
        if numbers.peek().is_none() {
            return self;
        }
        self.message(field, |packed| numbers.for_each(|number| packed.varint(number.cast_unsigned())))
    }

    pub(crate) fn double(&mut self, field: u64, number: f64) -> &mut Self {
        // As the library has it: minus nothing is nothing.
        self.optional_double(field, (number != 0.0).then_some(number))
    }

    pub(crate) fn optional_double(&mut self, field: u64, number: Option<f64>) -> &mut Self {
        if let Some(number) = number {
            self.key(field, FIXED_64);
            self.0.extend_from_slice(&number.to_le_bytes());
        }
        self
    }

    /// A message within this one.
    pub(crate) fn message(&mut self, field: u64, write: impl FnOnce(&mut Self)) -> &mut Self {
        self.key(field, LENGTH);
        let start = self.0.len();
        // How long it is stands before it, mostly in one byte.
        self.0.push(0);
        write(self);
        let written = length(self.0.len() - start - 1);
        match (u8::try_from(written), self.0.get_mut(start)) {
            (Ok(short @ ..0x80), Some(told)) => *told = short,
            _ => self.tell(start, written),
        }
        self
    }

    /// Puts a longer length where one byte was left for it.
    fn tell(&mut self, start: usize, written: u64) {
        let end = self.0.len();
        self.varint(written);
        let told = self.0.len() - end;
        // The length is behind the message now: to its front, over the byte that was left, by way of the stack.
        let mut bytes = [0; LONGEST_VARINT];
        for byte in bytes.iter_mut().take(told).rev() {
            *byte = self.0.pop().unwrap_or_default();
        }
        let bytes = bytes.get(..told).unwrap_or_default();
        self.0.resize(end + told - 1, 0);
        self.0.copy_within(start + 1..end, start + told);
        if let Some(front) = self.0.get_mut(start..start + told) {
            front.copy_from_slice(bytes);
        }
    }

    fn element(&mut self, field: u64, bytes: &[u8]) {
        self.key(field, LENGTH);
        self.varint(length(bytes.len()));
        self.0.extend_from_slice(bytes);
    }

    fn key(&mut self, field: u64, layout: u64) {
        self.varint(field << 3 | layout);
    }

    fn varint(&mut self, mut number: u64) {
        loop {
            let [low, ..] = number.to_le_bytes();
            number >>= 7;
            if number == 0 {
                self.0.push(low & 0x7f);
                return;
            }
            self.0.push(low | 0x80);
        }
    }
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_lengths_are_written_as_protobuf_has_them() {
        let written = |number| {
            let mut message = Message::default();
            message.varint(number);
            message.into_bytes()
        };
        for number in [0, 1, 127, 128, 300, 1 << 35, u64::MAX] {
            let mut expected = Vec::new();
            prost::encode_length_delimiter(usize::try_from(number).unwrap(), &mut expected).unwrap();
            assert_eq!(written(number), expected, "{number}");
        }
    }

    #[test]
    fn a_message_within_another_has_its_length_before_it_however_long_it_is() {
        for bytes in [0, 1, 127, 128, 300, 16_383, 16_384, 70_000] {
            let mut message = Message::default();
            message.message(1, |inner| inner.0.extend(std::iter::repeat_n(7, bytes)));
            let mut expected = vec![1 << 3 | 2];
            prost::encode_length_delimiter(bytes, &mut expected).unwrap();
            expected.resize(expected.len() + bytes, 7);
            assert_eq!(message.into_bytes(), expected, "{bytes}");
        }
    }

    #[test]
    fn a_long_message_may_hold_another() {
        let text = "x".repeat(300);
        let mut message = Message::default();
        message.message(1, |outer| {
            outer.message(3, |inner| {
                inner.text(2, &text);
            });
        });
        let bytes = message.into_bytes();
        let (head, rest) = bytes.split_at(9);
        assert_eq!(head, [1 << 3 | 2, 0xb2, 0x02, 3 << 3 | 2, 0xaf, 0x02, 2 << 3 | 2, 0xac, 0x02]);
        assert_eq!(rest, text.as_bytes());
    }

    #[test]
    fn what_has_its_default_is_left_out_unless_it_is_optional_or_repeated() {
        let mut message = Message::default();
        message.text(1, "").bytes(2, &[]).number(3, 0).flag(4, false).optional(5, None).optional_double(6, None);
        message.double(9, 0.0).numbers(10, []).optional_text(11, None);
        assert!(message.into_bytes().is_empty());
        let mut message = Message::default();
        message.optional(5, Some(0)).texts(7, [""]).message(8, |_| ()).numbers(9, [0, 300]).optional_text(10, Some(""));
        let numbers = [9 << 3 | 2, 3, 0, 0xac, 0x02];
        assert_eq!(
            message.into_bytes(),
            [&[5 << 3, 0, 7 << 3 | 2, 0, 8 << 3 | 2, 0], &numbers[..], &[10 << 3 | 2, 0]].concat()
        );
    }
}
